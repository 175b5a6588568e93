from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("teams", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="SignInTry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=64)),
                ("address", models.CharField(max_length=45)),
                ("at", models.DateTimeField()),
            ],
            options={
                "indexes": [
                    models.Index(fields=["name", "at"], name="try_name"),
                    models.Index(fields=["address", "at"], name="try_address"),
                    models.Index(fields=["at"], name="try_at"),
                ],
            },
        ),
    ]
