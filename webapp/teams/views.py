"""Pages of people: sign-in, home, and a project's tokens and members."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache

from webapp.teams import members
from webapp.teams.access import owns_team, person, project_or_404, require
from webapp.teams.forms import IN_PROJECT, IN_TEAM, LoginForm, MemberForm, PresetForm, TokenForm
from webapp.teams.models import ApiToken, Project, Role, User


class SignIn(LoginView):
    template_name = "teams/login.html"
    authentication_form = LoginForm
    redirect_authenticated_user = True

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        response = super().form_invalid(form)
        if isinstance(form, LoginForm) and form.is_throttled:
            response.status_code = 429
        return response


@login_required
def home(request: HttpRequest) -> HttpResponse:
    project = Project.objects.visible_to(request.user).order_by("name").first()
    if project is not None:
        return redirect("project", project.slug)
    return render(request, "teams/no_project.html")


def help_reading(request: HttpRequest) -> HttpResponse:
    return render(request, "teams/reading.html")


@login_required
@never_cache
def project_settings(request: HttpRequest, project: str) -> HttpResponse:
    found = project_or_404(request, project)
    if request.method == "POST":
        require(found, person(request), Role.OWNER)
        action = ACTIONS.get(request.POST.get("action", ""))
        if action is None:
            raise Http404("no such action")
        return action(request, found)
    return _settings_page(request, found)


def _settings_page(
    request: HttpRequest,
    project: Project,
    *,
    token_form: TokenForm | None = None,
    member_form: MemberForm | None = None,
    preset_form: PresetForm | None = None,
    new_token: str = "",
) -> HttpResponse:
    user = person(request)
    is_owner, is_team_owner = project.allows(user, Role.OWNER), owns_team(user, project.team)
    is_invalid = any(form and form.errors for form in (token_form, member_form, preset_form))
    context = {
        "project": project,
        "can_manage": is_owner,
        "can_manage_team": is_team_owner,
        "tokens": project.tokens.filter(revoked_at=None).select_related("created_by").order_by("-created_at"),
        "members": members.members_of(project, is_owner=is_owner, is_team_owner=is_team_owner),
        "roles": Role.choices,
        "token_form": token_form or TokenForm(),
        "member_form": member_form or MemberForm(),
        "presets": project.code_presets.all(),
        "preset_form": preset_form or PresetForm(project=project),
        "new_token": new_token,
    }
    return render(request, "teams/project_settings.html", context, status=422 if is_invalid else 200)


def create_token(request: HttpRequest, project: Project) -> HttpResponse:
    """Answers with the page itself, not with a redirect: the token must not be kept anywhere for a second request."""
    form = TokenForm(request.POST)
    if not form.is_valid():
        return _settings_page(request, project, token_form=form)
    _, token = ApiToken.create(project, form.cleaned_data["name"], person(request))
    return _settings_page(request, project, new_token=token)


def revoke_token(request: HttpRequest, project: Project) -> HttpResponse:
    token = get_object_or_404(project.tokens, key=request.POST.get("key", ""))
    if token.revoked_at is None:
        token.revoked_at = timezone.now()
        token.save(update_fields=["revoked_at"])
    messages.success(request, f"The token “{token.name}” is revoked. Whoever uses it is refused from now on.")
    return redirect("project_settings", project.slug)


def add_preset(request: HttpRequest, project: Project) -> HttpResponse:
    form = PresetForm(request.POST, project=project)
    if not form.is_valid():
        return _settings_page(request, project, preset_form=form)
    preset = project.code_presets.create(**form.cleaned_data)
    messages.success(request, f"“{preset.name}” is offered in the menu Steps of each graph of this project.")
    return redirect("project_settings", project.slug)


def delete_preset(request: HttpRequest, project: Project) -> HttpResponse:
    preset = get_object_or_404(project.code_presets, name=request.POST.get("name", ""))
    preset.delete()
    messages.success(request, f"“{preset.name}” is deleted. Links that have it as a step work as before.")
    return redirect("project_settings", project.slug)


def add_member(request: HttpRequest, project: Project) -> HttpResponse:
    form = MemberForm(request.POST)
    if not form.is_valid():
        return _settings_page(request, project, member_form=form)
    user = User.objects.get(username=form.cleaned_data["username"])
    role, scope = Role(form.cleaned_data["role"]), form.cleaned_data["scope"]
    return _change(request, project, lambda: members.set_role(project, person(request), user, role, scope))


def change_member(request: HttpRequest, project: Project) -> HttpResponse:
    user, scope = _member_of_post(request)
    if request.POST.get("role") not in Role.values:
        raise Http404("no such role")
    role = Role(request.POST["role"])
    return _change(request, project, lambda: members.set_role(project, person(request), user, role, scope))


def remove_member(request: HttpRequest, project: Project) -> HttpResponse:
    user, scope = _member_of_post(request)
    return _change(request, project, lambda: members.remove(project, person(request), user, scope))


def _member_of_post(request: HttpRequest) -> tuple[User, str]:
    scope = request.POST.get("scope", "")
    if scope not in (IN_PROJECT, IN_TEAM):
        raise Http404("no such scope")
    return get_object_or_404(User, username=request.POST.get("username", "")), scope


def _change(request: HttpRequest, project: Project, change: Callable[[], None]) -> HttpResponse:
    try:
        change()
    except members.NotAllowed as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, "The members are changed.")
    if not project.allows(person(request), Role.VIEWER):  # one's own membership may be what was removed
        return redirect("home")
    return redirect("project_settings", project.slug)


ACTIONS: dict[str, Callable[[HttpRequest, Project], HttpResponse]] = {
    "create_token": create_token,
    "revoke_token": revoke_token,
    "add_preset": add_preset,
    "delete_preset": delete_preset,
    "add_member": add_member,
    "change_member": change_member,
    "remove_member": remove_member,
}
