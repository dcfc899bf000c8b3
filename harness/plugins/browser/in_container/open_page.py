"""Opens a page of its own in the browser, as a container without any test does it.

Given as text to `python3 -c`. Ends with an error where the browser can't do that.
"""

from playwright.sync_api import sync_playwright

with sync_playwright() as playwright:
    browser = playwright.chromium.launch()
    page = browser.new_page()
    page.set_content("<p>works</p>")
    assert page.inner_text("p") == "works"
    browser.close()
