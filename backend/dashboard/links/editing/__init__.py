"""The forms that create and change a link, its tags, its limits and its rules."""
