"""What Django's admin has of the library."""

from django.contrib import admin

from library.models import Author, Book, Copy


class CopyInline(admin.TabularInline):
    model = Copy
    extra = 1


@admin.register(Book)
class BookAdmin(admin.ModelAdmin):
    list_display = ["title", "author", "in_print"]
    list_filter = ["in_print", "author"]
    search_fields = ["title", "author__name"]
    prepopulated_fields = {"slug": ["title"]}
    inlines = [CopyInline]
    actions = ["take_out_of_print"]

    @admin.action(description="Take out of print", permissions=["change"])
    def take_out_of_print(self, request, queryset):
        count = queryset.update(in_print=False)
        self.message_user(request, f"{count} out of print now.")


@admin.register(Author)
class AuthorAdmin(admin.ModelAdmin):
    search_fields = ["name"]
