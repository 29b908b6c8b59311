"""A browser around WebKit that keeps a profile: `python3 webkit_window.py --automation PROFILE`, to be started by WebKitWebDriver.

Debian's own test browser keeps nothing on the disk while it is driven. This one keeps what WebKit keeps for every browser made of
it, and writes down the session of each window whenever it changes, as they do: `session` holds WebKit's own serialization. It
runs with the system's Python, which has the bindings.
"""

import os
import sys
from pathlib import Path

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("WebKit2", "4.1")
from gi.repository import GLib, Gtk, WebKit2  # noqa: E402 - only then

OFTEN = 100  # milliseconds between two looks at the session


class Browser:
    """Windows of one profile, each with a view that WebDriver controls."""

    def __init__(self, profile):
        self.profile, self.views = profile, []
        data = WebKit2.WebsiteDataManager(base_data_directory=str(profile / "data"), base_cache_directory=str(profile / "cache"))
        self.context = WebKit2.WebContext(website_data_manager=data)
        data.get_cookie_manager().set_persistent_storage(str(profile / "cookies.sqlite"), WebKit2.CookiePersistentStorage.SQLITE)
        self.context.set_automation_allowed(True)
        self.context.connect("automation-started", self.begin)
        self.context.connect("download-started", lambda _, download: download.connect("decide-destination", self.save_file))
        GLib.timeout_add(OFTEN, self.save)

    def begin(self, context, session):
        about = WebKit2.ApplicationInfo()
        about.set_name("webkit_window")
        about.set_version(WebKit2.get_major_version(), WebKit2.get_minor_version(), WebKit2.get_micro_version())
        session.set_application_info(about)
        session.connect("create-web-view", self.open)

    def open(self, session):
        view = WebKit2.WebView(web_context=self.context, is_controlled_by_automation=True)
        saved = self.profile / f"session-{len(self.views)}"
        if saved.exists():
            view.restore_session_state(WebKit2.WebViewSessionState.new(GLib.Bytes.new(saved.read_bytes())))
            if current := view.get_back_forward_list().get_current_item():
                view.go_to_back_forward_list_item(current)
        window = Gtk.Window()
        window.set_default_size(1024, 768)
        window.add(view)
        window.show_all()
        view.connect("close", lambda _: window.destroy())
        window.connect("destroy", lambda _: self.views.remove(view))
        self.views.append(view)
        return view

    def save_file(self, download, name):
        (self.profile / "saved").mkdir(exist_ok=True)
        download.set_destination((self.profile / "saved" / name).as_uri())
        return True

    def save(self):
        for number, view in enumerate(self.views):
            new = self.profile / "session.new"
            new.write_bytes(view.get_session_state().serialize().get_data())
            os.replace(new, self.profile / f"session-{number}")
        return True


if __name__ == "__main__":
    folder = Path(sys.argv[-1])
    folder.mkdir(exist_ok=True)
    (folder / "pid").write_text(str(os.getpid()))
    browser = Browser(folder)
    Gtk.main()
