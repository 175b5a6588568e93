"""Static files under hashed names, imports between ES modules included, so that they can be cached for ever."""

from __future__ import annotations

from whitenoise.storage import CompressedManifestStaticFilesStorage


class ModuleStaticFilesStorage(CompressedManifestStaticFilesStorage):
    support_js_module_import_aggregation = True
    manifest_strict = False
    # A file's name changes with those that it imports: one pass for each level of imports, and modules go deep.
    max_post_process_passes = 20
