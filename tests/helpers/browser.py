"""A real browser without a driver: chromium speaks its DevTools protocol over two pipes."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions")
PATIENCE = 60  # seconds: a busy machine may be slow to start it


def find_browser():
    """The browser's program, or None where there is none."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    """One page of a headless browser; everything it complains of is in ``complaints``."""

    def __init__(self, program, profile, width=1280, height=900):
        self.complaints, self.requests, self._number, self._rest = [], [], 0, b""
        commands, self._commands = os.pipe()
        self._answers, answers = os.pipe()
        here = [program, *FLAGS, f"--user-data-dir={profile}", f"--window-size={width},{height}", "--remote-debugging-pipe"]
        # The browser reads from descriptor 3 and writes to descriptor 4; a shell puts the pipes there.
        shell = ["bash", "-c", f'exec "$@" 3<&{commands} 4>&{answers}', "browser", *here, "about:blank"]
        log = (Path(profile).parent / "browser.log").open("wb")
        self._process = subprocess.Popen(shell, pass_fds=(commands, answers), stdout=log, stderr=log)
        for descriptor in (commands, answers):
            os.close(descriptor)
        os.set_blocking(self._answers, False)
        page = next(target for target in self.send("Target.getTargets")["targetInfos"] if target["type"] == "page")
        attached = self.send("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    _session = None

    def send(self, method, **parameters):
        """Call a method of the protocol and wait for its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def open(self, path):
        """Load a file and wait until it stands."""
        self.send("Page.navigate", url=Path(path).absolute().as_uri())
        self.wait_for("document.readyState === 'complete'")

    def run(self, script):
        """The value of a JavaScript expression in the page."""
        result = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def wait_for(self, script):
        """Wait until a JavaScript expression is true."""
        end = time.monotonic() + PATIENCE
        while not self.run(script):
            assert time.monotonic() < end, f"never true: {script}"
            time.sleep(0.02)

    def press(self, key, code):
        """Press and release a key."""
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, text="\r" if key == "Enter" else "")

    def point(self, x, y, kind="mouseMoved", pressed=False):
        """Move the pointer in the window, or press ("mousePressed") and release ("mouseReleased") its button there."""
        button = {"button": "left", "buttons": 1, "clickCount": 1} if pressed or kind != "mouseMoved" else {"button": "none"}
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **button)

    def drag(self, *places):
        """Press at the first place, move along the others, release at the last."""
        self.point(*places[0])
        self.point(*places[0], kind="mousePressed")
        for place in places[1:]:
            self.point(*place, pressed=True)
        self.point(*places[-1], kind="mouseReleased")

    def prefer(self, **features):
        """What the visitor prefers, such as color_scheme="dark"."""
        wishes = [{"name": f"prefers-{name.replace('_', '-')}", "value": value} for name, value in features.items()]
        self.send("Emulation.setEmulatedMedia", features=wishes)
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")  # until the page has seen it

    def resize(self, width, height=900):
        """Show the page on a screen of another size."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def close(self):
        """End the browser."""
        os.close(self._commands)  # which it takes as the wish to end
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._answers)

    def _receive(self):
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._rest:
            try:
                self._rest += os.read(self._answers, 1 << 20)
            except BlockingIOError:
                time.sleep(0.005)
            assert self._process.poll() is None and time.monotonic() < end, "the browser does not answer"
        message, _, self._rest = self._rest.partition(b"\0")
        content = json.loads(message)
        self._listen(content)
        return content

    def _listen(self, message):
        kind, details = message.get("method"), message.get("params", {})
        if kind == "Runtime.exceptionThrown":
            self.complaints.append(details["exceptionDetails"])
        elif kind == "Log.entryAdded" and details["entry"]["level"] in ("error", "warning"):
            self.complaints.append(details["entry"])
        elif kind == "Runtime.consoleAPICalled" and details["type"] in ("error", "warning", "assert"):
            self.complaints.append(details["args"])
        elif kind == "Network.requestWillBeSent":
            self.requests.append(details["request"]["url"])
