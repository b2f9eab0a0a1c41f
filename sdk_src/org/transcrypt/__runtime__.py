"""Replaces Transcrypt's own runtime, which would change the built-in prototypes of the page.

Transcrypt looks for modules in the source folder first. Only identities are left here: esbuild inlines them, so
nothing of this file reaches a page.
"""

__pragma__(
    'js',
    '{}',
    """
export var __envir__ = {};
export function dict(o) { return o; }
export function tuple(o) { return o; }
""",
)
