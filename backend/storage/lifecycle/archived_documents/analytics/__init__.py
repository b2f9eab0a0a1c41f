"""Rules for what an archive has for reading figures: costs, funnels, reports and alerts."""
