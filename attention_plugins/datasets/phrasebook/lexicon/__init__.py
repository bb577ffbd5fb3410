"""The words of the phrasebook: what stands for what, with gender, class and use."""
