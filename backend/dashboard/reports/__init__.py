"""The pages on which an organization shares views as reports, and sees which ones it shares."""
