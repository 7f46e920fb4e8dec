from django.apps import AppConfig


class AccessConfig(AppConfig):
    name = "protoconsole.access"
    label = "access"
    verbose_name = "Operators and keys"
    default_auto_field = "django.db.models.BigAutoField"
