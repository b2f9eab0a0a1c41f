"""Work that one page does at a time. An app is one process, so nobody has to wait."""


async def run_exclusively(_lock_name, work):
    """Run `work`."""
    await work()
