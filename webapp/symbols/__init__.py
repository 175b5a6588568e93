"""Files of symbols that people upload: what is stored, and the names that it gives to frames without one."""
