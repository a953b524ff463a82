"""Models behind one port. The only room that knows litellm, which is imported when a litellm model is used."""
