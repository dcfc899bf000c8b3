"""A first page, the admin at /admin/, and its styles and scripts, which a browser needn't ask for on each page."""

from django.contrib import admin
from django.contrib.staticfiles.views import serve
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.cache import cache_control

STATIC_SECONDS = 3600


def first_page(_: HttpRequest) -> HttpResponse:
    return HttpResponse('<!DOCTYPE html><title>Library</title><a href="/admin/">Administration</a>')


urlpatterns = [
    path("", first_page),
    path("admin/", admin.site.urls),
    path("static/<path:path>", cache_control(max_age=STATIC_SECONDS)(serve), {"insecure": True}),
]
