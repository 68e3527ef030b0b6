"""What tests do with a page of explanations in a browser."""

MAP_NOTE, GRAPH_NOTE, TITLE = (
    f"document.getElementById('{name}').textContent" for name in ("map-note", "graph-note", "graph-title")
)


def click(browser, selector):
    """Click the first element that matches."""
    browser.run(f"document.querySelector(`{selector}`).click()")


def choose(browser, number):
    """Select a graph by its number, through the table of all graphs."""
    click(browser, "[data-filter=all]")
    browser.run("document.getElementById('table-graphs').open = true")
    browser.wait_for(f"document.querySelectorAll('#table-graphs button').length > {number}")
    browser.run(f"document.querySelectorAll('#table-graphs button')[{number}].click()")


def box_of(browser, name):
    """Where an element is in the window: left, top, width, height."""
    element = f"document.getElementById('{name}')"
    browser.run(f"{element}.scrollIntoView({{ block: 'center', behavior: 'instant' }})")
    return browser.run(f"(({{ left, top, width, height }}) => [left, top, width, height])({element}.getBoundingClientRect())")


def picture(browser, name):
    """All that is drawn on a canvas."""
    return browser.run(f"document.getElementById('{name}').toDataURL()")
