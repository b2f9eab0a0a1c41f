"""The links to which a key is limited, and how they are named."""
