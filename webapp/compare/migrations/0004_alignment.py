from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("compare", "0003_interval_sides"), ("teams", "0002_sign_in_tries")]

    operations = [
        migrations.AddField("diffpayload", "rules_hash", models.CharField(default="", max_length=32)),
        migrations.AddField("diffpayload", "matched", models.JSONField(default=list)),
        migrations.AddField("diffpayload", "renamed", models.IntegerField(default=0)),
        migrations.RemoveConstraint("diffpayload", "one_diff_a_pair"),
        migrations.AddConstraint(
            "diffpayload",
            models.UniqueConstraint(
                fields=("before", "after", "before_revision", "after_revision", "since", "value_type", "rules_hash"),
                name="one_diff_a_pair",
            ),
        ),
        migrations.CreateModel(
            name="ProjectAlignment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("rules", models.TextField(max_length=20_000)),
                (
                    "project",
                    models.OneToOneField(
                        on_delete=models.deletion.CASCADE, related_name="alignment", to="teams.project"
                    ),
                ),
            ],
        ),
    ]
