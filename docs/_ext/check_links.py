"""Check the links of the built site: internal ones lead to a page and an anchor that exist, external ones are well-formed,
and nothing is loaded from elsewhere.

python docs/_ext/check_links.py docs/_build
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = set()
        self.loaded: set[str] = set()  # by the browser, unasked
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element links to, and what it can be linked to by."""
        values = dict(attrs)
        self.links |= {values[name] or "" for name in ("href", "src") if name in values}
        self.anchors |= {values[name] or "" for name in ("id", "name") if name in values}
        if tag != "a":
            self.loaded |= {values[name] or "" for name in ("href", "src") if name in values and values.get("rel") != "canonical"}


def problems(root: Path) -> list[str]:
    """Every link that leads nowhere, and all that is loaded from elsewhere, with the page it is on."""
    pages = {path.resolve(): Page(path.read_text()) for path in root.rglob("*.html") if path.name != "report.html"}
    return [f"{path.relative_to(root.resolve())}: {link}" for path, page in pages.items() for link in sorted(page.links)
            if not _leads_somewhere(path, link, pages) or (link in page.loaded and urlsplit(link).netloc)]  # fmt: skip


def _leads_somewhere(page: Path, link: str, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(link)
    if parts.scheme in ("http", "https"):
        return "." in parts.netloc and " " not in link
    if parts.scheme in ("mailto", "data"):
        return True
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not target.is_file():
        return False
    return not parts.fragment or target not in pages or unquote(parts.fragment) in pages[target].anchors


if __name__ == "__main__":
    found = problems(Path(sys.argv[1]))
    print("\n".join(found) or "all links lead somewhere")
    sys.exit(bool(found))
