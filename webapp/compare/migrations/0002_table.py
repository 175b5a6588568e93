from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("compare", "0001_differences")]

    operations = [
        migrations.AddField(model_name="diffpayload", name="table", field=models.JSONField(default=dict)),
    ]
