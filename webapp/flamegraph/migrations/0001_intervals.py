import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("runs", "0005_unnamed_module"),
    ]

    operations = [
        migrations.CreateModel(
            name="IntervalPayload",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("overview", models.BinaryField()),
                ("overview_is_full", models.BooleanField(default=False)),
                ("file", models.CharField(default="", max_length=200)),
                ("content_hash", models.CharField(max_length=16)),
                ("used_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("since_revision", models.IntegerField()),
                ("until_revision", models.IntegerField()),
                ("value_type", models.CharField(max_length=200)),
                ("nodes", models.IntegerField()),
                ("total", models.JSONField()),
                ("is_signed", models.BooleanField()),
                ("negative", models.JSONField(default=list)),
                ("functions", models.JSONField(default=dict)),
                (
                    "since",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="runs.snapshot"
                    ),
                ),
                (
                    "until",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="runs.snapshot"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["-used_at"], name="interval_used")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("since", "until", "since_revision", "until_revision", "value_type"),
                        name="one_interval_a_pair",
                    )
                ],
            },
        ),
    ]
