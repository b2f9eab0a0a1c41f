"""What the JSON APIs for servers, browsers and apps share: request bodies, keys, rate limits and errors."""
