"""Take a screenshot of a page: `python -m tests.browser.shots URL OUT.png --width 1440 --theme dark`."""

import argparse
import os
import shutil
import sys
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Playwright, sync_playwright

ARGS = ["--disable-quic", "--disable-background-networking"]


def launch(playwright: Playwright) -> Browser:
    """Start the Chromium of the PATH, or Playwright's own."""
    sandbox = ["--no-sandbox"] if os.getuid() == 0 else []
    return playwright.chromium.launch(executable_path=shutil.which("chromium"), args=[*ARGS, *sandbox])


def shoot(url: str, out: str, options: argparse.Namespace) -> list[str]:
    """Save the picture and return what the browser's console complained of."""
    complaints: list[str] = []
    with sync_playwright() as playwright:
        browser = launch(playwright)
        context = browser.new_context(
            viewport={"width": options.width, "height": options.height},
            color_scheme=options.theme,
            java_script_enabled=not options.no_script,
        )
        context.add_cookies([_cookie(url, pair) for pair in options.cookie])
        page = context.new_page()
        page.on(
            "console", lambda message: complaints.append(message.text) if message.type == "error" else None
        )
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(url)
        page.evaluate("document.fonts.ready")
        for key in options.press:
            page.keyboard.press(key)
        for selector in options.click:
            page.locator(selector).first.click()
        if options.scroll:
            page.locator(options.scroll).first.scroll_into_view_if_needed()
        overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        if overflow > 0:
            complaints.append(f"the page is {overflow} px wider than the window")
        page.screenshot(path=out, full_page=options.full)
        browser.close()
    return complaints


def _cookie(url: str, pair: str) -> dict[str, str]:
    name, _, value = pair.partition("=")
    return {"name": name, "value": value, "domain": urlsplit(url).hostname or "", "path": "/"}


def main() -> int:
    """Read the arguments; the exit code is 1 when the browser complained."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("out")
    parser.add_argument("--width", type=int, default=1440)
    parser.add_argument("--height", type=int, default=900)
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    parser.add_argument("--cookie", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--press", action="append", default=[], help="a key to press before the picture")
    parser.add_argument("--click", action="append", default=[], help="a selector to click before the picture")
    parser.add_argument("--scroll", help="a selector to scroll to")
    parser.add_argument("--full", action="store_true", help="the whole page, not only the window")
    parser.add_argument("--no-script", action="store_true", help="as a browser without JavaScript shows it")
    options = parser.parse_args()
    complaints = shoot(options.url, options.out, options)
    print(*complaints, sep="\n", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    raise SystemExit(main())
