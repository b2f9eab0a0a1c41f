"""What `import { Waylink } from 'waylink'` gives: importing it does nothing."""

from waylink import create_waylink

Waylink = create_waylink()
