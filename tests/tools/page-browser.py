#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A page of report --html as a browser shows it and a keyboard uses it:
page-browser.py CHROMIUM PAGE [FOLDER-FOR-PICTURES]. Prints a line a test.

PAGE is that of page-overlay.py. Must never touch the mouse.
"""
import os
import struct
import sys
import zlib

from browser import Browser

failed = 0


def test(name, good, why=""):
    global failed
    if good:
        print("ok browser: " + name)
    else:
        failed += 1
        print(f"not ok browser: {name}: {why}")


def pixels(png):
    """(width, height, how often each colour occurs) of a PNG of 8 bits without interlace."""
    at, packed = 8, b""
    while at < len(png):
        size, kind = struct.unpack_from(">I4s", png, at)
        if kind == b"IHDR":
            width, height, bits, color = struct.unpack_from(">IIBB", png, at + 8)
        if kind == b"IDAT":
            packed += png[at + 8:at + 8 + size]
        at += size + 12
    step = {2: 3, 6: 4}[color]
    data, line, colors = zlib.decompress(packed), bytearray(width * step), {}
    for y in range(height):
        start = y * (width * step + 1)
        kind, raw, above = data[start], bytearray(data[start + 1:start + 1 + width * step]), line
        for i in range(len(raw) if kind else 0):
            a = raw[i - step] if i >= step else 0
            b = above[i]
            c = above[i - step] if i >= step else 0
            if kind == 1:
                add = a
            elif kind == 2:
                add = b
            elif kind == 3:
                add = (a + b) // 2
            else:
                p = a + b - c
                add = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            raw[i] = (raw[i] + add) & 255
        line = raw
        for x in range(0, len(raw), 4 * step):
            pixel = bytes(raw[x:x + 3])
            colors[pixel] = colors.get(pixel, 0) + 1
    return width, height, colors


def looks(browser, page, folder, dark):
    """Shown as it should be: not blank, in the colours of the theme."""
    theme = "dark" if dark else "light"
    for width in (1280, 600, 420):
        browser.open(page, width=width, height=900, dark=dark)
        if folder:
            browser.picture(os.path.join(folder, f"{theme}-{width}.png"))
        if width == 1280:
            w, h, colors = pixels(browser.picture(width=960))
            common = max(colors, key=colors.get)
            test(f"{theme}: not blank", (w, h) == (960, 480) and len(colors) > 50,
                 f"{w} by {h}, {len(colors)} colours")
            test(f"{theme}: its background", (sum(common) < 150) == dark, str(tuple(common)))
        wide = browser.eval("document.documentElement.scrollWidth")
        test(f"{theme}: fits {width} pixels", wide <= width, f"it is {wide} wide")
    right = browser.eval("[...document.querySelectorAll('table.rows :is(.c-wait, .c-verdict)')]"
                         ".map((c) => Math.ceil(c.getBoundingClientRect().right))")
    test(f"{theme}: WAIT and VERDICT are seen on 420 pixels", len(right) > 4 and 0 < min(right) and
         max(right) <= 420, str(right))
    bad = [e["params"] for e in browser.events
           if e["method"] in ("Log.entryAdded", "Runtime.exceptionThrown")]
    test(f"{theme}: no complaint of the browser", not bad, str(bad))
    urls = {e["params"]["request"]["url"].split("#")[0] for e in browser.events
            if e["method"] == "Network.requestWillBeSent"}
    test(f"{theme}: nothing but the page is loaded", urls == {"file://" + page}, str(urls))


def focus(browser, selector, most=200):
    """Tabs until an element that matches has the focus; 0 if none gets it."""
    for i in range(1, most):
        browser.tab()
        if browser.eval(f"document.activeElement.matches({selector!r})"):
            return i
    return 0


FOCUS_SHOWN = "getComputedStyle(document.activeElement).outlineStyle !== 'none'"


def keyboard(browser, page):
    browser.open(page)
    browser.tab()
    test("the first stop skips to the report",
         browser.eval("document.activeElement.className") == "skip")
    test("the focus is shown", browser.eval(FOCUS_SHOWN))
    browser.enter()
    test("skipped", browser.eval("document.activeElement.id") == "main")

    browser.open(page)
    background = "getComputedStyle(document.body).backgroundColor"
    before = browser.eval(background)
    test("the switch of the colours is reached", focus(browser, "#theme"))
    browser.enter()
    test("dark by keyboard", browser.eval(background) != before
         and browser.eval("document.activeElement.getAttribute('aria-pressed')") == "true")
    browser.enter()
    test("light again", browser.eval(background) == before)

    test("a head of the table is reached", focus(browser, "thead th:nth-child(4) button"))
    test("the focus is shown on it", browser.eval(FOCUS_SHOWN))
    column = ("[...document.querySelector('table.rows').tBodies[0].rows]"
              ".map((r) => Number(r.cells[3].dataset.v))")
    order = "document.activeElement.closest('th').getAttribute('aria-sort')"
    for direction in ("descending", "ascending"):
        browser.enter()
        values = browser.eval(column)
        test(f"sorted {direction}", len(values) > 2 and browser.eval(order) == direction
             and values == sorted(values, reverse=direction == "descending"), str(values))
    others = browser.eval("document.querySelectorAll('[aria-sort]:not([aria-sort=none])').length")
    test("one column is sorted by", others == 1, str(others))
    test("sorting is said", "ascending" in browser.eval("said.textContent"))

    browser.open(page)
    shown = "[...document.querySelectorAll('table.rows tbody tr')].filter((r) => !r.hidden).length"
    every = browser.eval(shown)
    test("the box that filters rows is reached", focus(browser, ".filter"))
    browser.call("Input.insertText", text="LOOKUP")
    some = browser.eval(shown)
    test("rows are filtered by any letters of their names", 0 < some < every, f"{some} of {every}")
    test("how many is said", browser.eval("document.querySelector('.s-table .found').textContent")
         == f"{some} of {every}")

    test("the box that searches the flame graph is reached", focus(browser, ".search"))
    browser.call("Input.insertText", text="subject_insert")
    hits = "document.querySelectorAll('.frame.hit').length"
    test("a function is found", browser.eval(hits) == 1, str(browser.eval(hits)))
    test("its share is said", browser.eval(
        "document.querySelector('.s-flame .found').textContent") == "50.0% of the time waiting for locks")
    wide = "document.querySelector('.frame.hit').getAttribute('width')"
    browser.eval("document.querySelector('.frame.hit').dispatchEvent(new Event('click'))")
    test("a function is widened", browser.eval(wide) == "100%", browser.eval(wide))
    test("what is beside it is not shown", browser.eval(
        "[...document.querySelectorAll('.frame')].filter((f) => f.getAttribute('display') === 'none')"
        ".length") >= 2)
    test("the whole is reached", focus(browser, ".whole"))
    browser.enter()
    test("the whole is back", browser.eval(wide) == "50%", browser.eval(wide))

    browser.open(page)
    test("a copy button is reached", focus(browser, ".copy"))
    # Without a clipboard of its own the page copies what it has selected.
    browser.eval("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    browser.enter()
    said = browser.eval("new Promise((f) => setTimeout(() => f(said.textContent), 200))")
    test("copied", said == "Copied", said)
    test("what is copied is the setting", browser.eval(
        "getSelection().toString() === document.querySelector('.set code').textContent"))

    browser.open(page)
    test("a row's link is reached", focus(browser, "table.rows tbody a"))
    browser.enter()
    test("the link opens its row", browser.eval(
        "new Promise((f) => setTimeout(() => f(document.querySelector(location.hash).open), 200))"))


def otherwise(browser, page):
    browser.open(page + "#dark")
    test("#dark", browser.eval("document.documentElement.dataset.theme") == "dark")
    browser.open(page, script=False)
    test("without scripts no button that does nothing", browser.eval(
        "document.querySelectorAll('button').length > 0 &&"
        "[...document.querySelectorAll('button')].every((b) => b.offsetParent === null)"))
    test("without scripts the table and what to do", browser.eval(
        "document.querySelector('table.rows').tBodies[0].rows.length") > 2 and browser.eval(
        "document.querySelectorAll('.findings > li').length") > 1)
    browser.open(page)
    test("what gets in does not run", browser.eval(
        "new Promise((f) => { addEventListener('securitypolicyviolation', () => f(true));"
        " const s = document.createElement('script'); s.textContent = 'window.ran = 1';"
        " document.body.append(s); setTimeout(() => f(false), 500); })")
        and browser.eval("window.ran === undefined"))
    browser.call("Emulation.setEmulatedMedia", media="print", features=[
        {"name": "prefers-color-scheme", "value": "dark"}])
    test("on paper light, with heads, without buttons to press", browser.eval(
        "getComputedStyle(document.documentElement).colorScheme === 'light' &&"
        "[...document.querySelectorAll('button')].every((b) =>"
        " (b.closest('thead') === null) === (b.offsetParent === null))"))
    closed = "document.querySelectorAll('details:not([open])').length"
    before = browser.eval(closed)
    browser.eval("dispatchEvent(new Event('beforeprint'))")
    test("on paper nothing is closed", before > 0 and browser.eval(closed) == 0)
    browser.eval("dispatchEvent(new Event('afterprint'))")
    test("closed again afterwards", browser.eval(closed) == before)
    browser.call("Emulation.setEmulatedMedia", media="")


def main():
    page = os.path.realpath(sys.argv[2])
    folder = sys.argv[3] if len(sys.argv) > 3 else None
    browser = Browser(sys.argv[1])
    try:
        looks(browser, page, folder, False)
        looks(browser, page, folder, True)
        keyboard(browser, page)
        otherwise(browser, page)
    except RuntimeError as error:
        test("it answers", False, str(error))
    finally:
        browser.close()
    return 1 if failed else 0


sys.exit(main())
