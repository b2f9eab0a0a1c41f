"""Windrow: a small online shop for kites that uses Waylink as any site would."""
