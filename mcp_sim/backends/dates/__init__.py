"""Return the time, and calculate with dates and time zones."""
