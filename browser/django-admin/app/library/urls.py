"""A first page, and the admin at /admin/."""

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import path


def first_page(_: HttpRequest) -> HttpResponse:
    return HttpResponse('<!DOCTYPE html><title>Library</title><a href="/admin/">Administration</a>')


urlpatterns = [path("", first_page), path("admin/", admin.site.urls)]
