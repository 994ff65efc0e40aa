# SPDX-License-Identifier: GPL-2.0-or-later
"""A page in headless Chromium, driven over a pipe: no port, no further package.

Must never reach a network: it opens files, and the browser resolves no names.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

# Thirty times what it takes on a machine that does nothing else.
LIMIT_S = 300


class Browser:
    """Chromium with one page. All that fails raises RuntimeError."""

    def __init__(self, program):
        self.home = tempfile.mkdtemp()
        self.number = 0
        self.events = []
        self.buffer = b""
        self.end = time.monotonic() + LIMIT_S
        to_browser, self.to = os.pipe()
        self.back, from_browser = os.pipe()

        def descriptors():
            # The browser reads commands from 3 and writes answers to 4.
            read, write = os.dup(to_browser), os.dup(from_browser)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--no-first-run", "--disable-extensions", "--disable-dev-shm-usage",
             "--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND",
             "--force-device-scale-factor=1", "--user-data-dir=" + self.home,
             "--remote-debugging-pipe", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": self.home}, close_fds=False, preexec_fn=descriptors)
        os.close(to_browser)
        os.close(from_browser)
        self.session = None
        page = []
        while not page: # it answers before it has one
            page = [t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"]
        self.session = self.call("Target.attachToTarget", targetId=page[0]["targetId"],
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)

    def read(self):
        """The next message."""
        while b"\0" not in self.buffer:
            left = self.end - time.monotonic()
            if left <= 0 or not select.select([self.back], [], [], left)[0]:
                raise RuntimeError("the browser does not answer")
            got = os.read(self.back, 1 << 16)
            if not got:
                raise RuntimeError("the browser ended")
            self.buffer += got
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        """The result of a command; what happens meanwhile goes to events."""
        self.number += 1
        command = {"id": self.number, "method": method, "params": params}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.to, json.dumps(command).encode() + b"\0")
        while True:
            message = self.read()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(method + ": " + message["error"]["message"])
                return message["result"]
            self.events.append(message)

    def open(self, path, width=1280, height=900, dark=False, script=True):
        """Loads a file anew."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self.navigate("about:blank")
        self.navigate("file://" + path)

    def navigate(self, url):
        """Until this page is loaded: the end of another's loading may still be on its way."""
        self.events = []
        loader = self.call("Page.navigate", url=url)["loaderId"]
        while not any(e["method"] == "Page.lifecycleEvent" and e["params"]["name"] == "load"
                      and e["params"]["loaderId"] == loader for e in self.events):
            self.events.append(self.read())

    def eval(self, expression):
        """A JSON value of the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(expression + ": " + str(result["exceptionDetails"]))
        return result["result"].get("value")

    def key(self, name, code, text=""):
        """A key pressed and released, as by a hand."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name,
                      windowsVirtualKeyCode=code, text=text if kind == "keyDown" else "")

    def tab(self):
        self.key("Tab", 9)

    def enter(self):
        self.key("Enter", 13, "\r")

    def picture(self, path=None, width=1280, height=480):
        """The top of the page as PNG; all of it if it goes to a file."""
        clip = {} if path else {
            "clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}}
        png = base64.b64decode(self.call("Page.captureScreenshot", format="png",
                                         captureBeyondViewport=bool(path), **clip)["data"])
        if path:
            with open(path, "wb") as file:
                file.write(png)
        return png

    def close(self):
        os.close(self.to)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.back)
        shutil.rmtree(self.home, ignore_errors=True)
