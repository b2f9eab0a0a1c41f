"""The only request that the SDK makes: a batch of calls to the service."""

__pragma__('skip')
from browser import __pragma__, AbortSignal, Date, Math, fetch, navigator

__pragma__('noskip')

TIMEOUT = 10000  # milliseconds
LONGEST_PAUSE = 3600000  # milliseconds


async def post(url, body, keepalive):
    """Send a batch; gives {status, results, wait}, or undefined when there was no usable answer.

    `wait` is the pause in milliseconds that the service asks for. A text is a content type without a preflight, and
    `keepalive` lets the request outlive the page; the browser refuses it when other requests of the page have used up
    its 64 KiB.
    """
    try:
        response = await fetch(
            url,
            {
                'method': 'POST',
                'body': body,
                'keepalive': keepalive,
                'signal': AbortSignal.timeout and AbortSignal.timeout(TIMEOUT),
            },
        )
        answer = {'status': response.status, 'wait': pause_of(response.headers.js_get('retry-after'))}
        if response.ok:
            content = await response.json()  # a name of its own: Transcrypt drops the parentheses of (await x).y
            answer.results = content.results.filter(lambda each: each.call_id)  # throws where it is garbage
        return answer
    except:
        pass


def pause_of(text):
    """The milliseconds of a Retry-After header, which holds seconds or a date; 0 without a usable one."""
    return Math.min(text * 1000 or Date.parse(text) - Date.now() or 0, LONGEST_PAUSE)


def send_on_leaving(url, body):
    """Send what nobody waits for any more, while the page goes away."""
    navigator.sendBeacon(url, body)
