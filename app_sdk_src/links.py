"""Links that the app makes, such as invitations."""

from debug import say
from device_id import device
from options import service_url
from requests import is_refusal, send
from start import ready

__pragma__('skip')
from browser import __pragma__, Object

__pragma__('noskip')


async def create_link(fields):
    """Have the service make a link, or give the one that it has for this `external_id`.

    Not kept for later: a link is wanted now, and the same call gives the same link later.
    """
    await ready
    try:
        body = Object.assign({}, fields, {'install_id': device})
        answer = await send(service_url('/serviceCore/app/v1/links'), body)
        if answer.content.short_url:
            return Object.assign({'status': 'accepted'}, answer.content)
        if is_refusal(answer):
            say('error', answer.content, True)
            return {'status': 'rejected', 'error': answer.content.error}
        say('refused', answer)
    except:
        say('offline', fields)
    return {'status': 'unavailable'}
