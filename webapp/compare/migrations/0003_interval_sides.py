from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("compare", "0002_table"),
        ("runs", "0005_unnamed_module"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="diffpayload",
            name="one_diff_a_pair",
        ),
        migrations.AddField(
            model_name="diffpayload",
            name="since",
            field=models.CharField(blank=True, default="", max_length=60),
        ),
        migrations.AddConstraint(
            model_name="diffpayload",
            constraint=models.UniqueConstraint(
                fields=("before", "after", "before_revision", "after_revision", "since", "value_type"),
                name="one_diff_a_pair",
            ),
        ),
    ]
