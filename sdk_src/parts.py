"""What the parts of the SDK share that a site loads beside it, each for one option of `init`."""

from page import script_tag

__pragma__('skip')
from browser import __pragma__, Object, window

__pragma__('noskip')

# The last button of a mouse that follows a link. Of the next ones, one opens a menu, and two go back and forward.
MIDDLE_BUTTON = 1


def install_on_page(install):
    """Call `install` with the page's `Waylink`: now, or once the SDK has loaded, before it carries out what waits."""
    present = window.Waylink or ''
    if present.init and not present.q:
        install(present, script_tag)
    else:
        if not present.q:
            present = {'q': []}
            window.Waylink = present
        present.q.unshift(['hasConsent', [], lambda: install(window.Waylink, script_tag)])


def take_option(waylink, name, use, start):
    """Have `init` call `use` with the value of this option and with all options, start the SDK, and then call `start`.

    What `use` raises, `init` rejects with.
    """
    init = waylink.init

    async def init_without(arguments):
        rest = arguments
        if arguments and arguments[name] != None:
            use(arguments[name], arguments)
            rest = Object.assign({}, arguments)
            del rest[name]
        started = init(rest)
        start()
        return await started

    waylink.init = init_without


def link_of(event):
    """The link that a click follows, also in a shadow tree; false or undefined where it follows none."""
    return event.button <= MIDDLE_BUTTON and event.composedPath().find(
        lambda element: element.href and ['a', 'area'].includes(element.localName)
    )


def address_of(link):
    """Where a link leads, as text. That of a link in a drawing (SVG) is an object."""
    return link.href.baseVal or link.href
