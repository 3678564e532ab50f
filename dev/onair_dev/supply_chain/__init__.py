"""What is in our images: bills of materials, and updates that they lack."""
