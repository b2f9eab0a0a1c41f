"""Rules for what an archive has for reading figures: costs, notes, funnels, reports and alerts."""
