"""The pages: what a user sees, one module each. Nothing heavy is imported here."""
