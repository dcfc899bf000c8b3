"""Books of a library, who wrote them, and the copies on its shelves."""

from django.db import models


class Author(models.Model):
    name = models.CharField(max_length=100, unique=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Book(models.Model):
    title = models.CharField(max_length=200)
    slug = models.SlugField(unique=True)
    author = models.ForeignKey(Author, on_delete=models.CASCADE)
    in_print = models.BooleanField(default=True)

    class Meta:
        ordering = ["title"]

    def __str__(self) -> str:
        return self.title


class Copy(models.Model):
    book = models.ForeignKey(Book, on_delete=models.CASCADE)
    number = models.CharField("inventory number", max_length=20, unique=True)
    shelf = models.CharField(max_length=20)

    class Meta:
        verbose_name_plural = "copies"

    def __str__(self) -> str:
        return self.number
