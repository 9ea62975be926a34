"""`memoranda service-account`: the credentials of a project, over the store itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from memoranda.cli.administering import DEFAULT_PROJECT, DEFAULT_URL, LimitOption, administered, grace_of, hours_of
from memoranda.cli.console import cell, counted, minute, out, print_json, say, table
from memoranda.cli.options import JsonOption, OrgOption, StoreOption, note_unused, require_given
from memoranda.cli.store import named_store

if TYPE_CHECKING:
    from memoranda.server import NewSecret, ServiceAccountView

service_account_app = typer.Typer(help="Credentials of a project: create, list, get, rotate or delete them.")

ClientArgument: TypeAlias = Annotated[
    str, typer.Argument(metavar="CLIENT_ID", help="The id of a service account.", show_default=False)
]
ProjectOption: TypeAlias = Annotated[str, typer.Option("--project-id", metavar="ID", help="The project.")]
GivenProjectOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--project-id", metavar="ID", help="Refuse an account of another project than this.", show_default=False
    ),
]
LifetimeOption: TypeAlias = Annotated[
    str, typer.Option("--secret-expires-in", metavar="TIME", help="How long the secret is good: 36h, 90d.")
]
UrlOption: TypeAlias = Annotated[
    str, typer.Option("--base-url", metavar="URL", help="The server that the printed command asks for a token.")
]


@service_account_app.callback()
def service_account(ctx: typer.Context, store: StoreOption = None) -> None:
    if store is not None:
        ctx.obj = store


@service_account_app.command("create")
def create_command(
    ctx: typer.Context,
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the account is for.", show_default=False)],
    roles: Annotated[
        list[str],
        typer.Option(
            "--role",
            metavar="ROLE",
            help="PROJECT_OWNER, AGENT_DEVELOPER or PROJECT_READ_ONLY; may be given more than once.",
            show_default=False,
        ),
    ],
    description: Annotated[str, typer.Option("--description", metavar="TEXT", help="More about it.")] = "",
    secret_expires_in: LifetimeOption = "90d",
    allowed: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-ip",
            metavar="CIDR",
            help="An address or network it may be used from; more than once for more, everywhere unless given.",
            show_default=False,
        ),
    ] = None,
    project_id: ProjectOption = DEFAULT_PROJECT,
    org_id: OrgOption = None,
    base_url: UrlOption = DEFAULT_URL,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Make a service account and print its secret, which is shown this once and kept nowhere."""
    from memoranda.server import AccountDraft

    note_unused(org_id=org_id)
    hours = hours_of("--secret-expires-in", secret_expires_in)
    draft = AccountDraft(require_given("NAME", name), roles, description, hours, tuple(allowed or ()))
    with administered(named_store(ctx, store)) as administration:
        created = administration.accounts.create(project_id, draft)
    _show_secret(created, base_url, as_json=as_json)


@service_account_app.command("list")
def list_command(
    ctx: typer.Context,
    *,
    limit: LimitOption = 50,
    project_id: ProjectOption = DEFAULT_PROJECT,
    org_id: OrgOption = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Print the service accounts of a project, those that were ended too."""
    from memoranda.server import ServiceAccountView

    note_unused(org_id=org_id)
    with administered(named_store(ctx, store)) as administration:
        page = administration.accounts.list(project_id, limit=limit)
    views = [ServiceAccountView.of(each) for each in page.items]
    if as_json:
        print_json({"service_accounts": views, "next_cursor": page.next_cursor})
        return
    made = table(counted(len(views), "service account"), "client id", "roles", "state", "secret good until", "name")
    for view in views:
        made.add_row(
            view.client_id, ", ".join(view.roles), _state(view), minute(view.secret_expires_at), cell(view.name)
        )
    out().print(made)
    if page.next_cursor is not None:
        say("there are more; raise --limit")


@service_account_app.command("get")
def get_command(
    ctx: typer.Context,
    *,
    client_id: ClientArgument,
    project_id: GivenProjectOption = None,
    org_id: OrgOption = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Print all that is kept of a service account, but for what its secrets hash to."""
    from memoranda.server import ServiceAccountView

    note_unused(org_id=org_id)
    with administered(named_store(ctx, store)) as administration:
        project = administration.project_of(client_id, project_id)
        view = ServiceAccountView.of(administration.accounts.get(project, client_id))
    _show(view, as_json=as_json)


@service_account_app.command("rotate")
def rotate_command(
    ctx: typer.Context,
    *,
    client_id: ClientArgument,
    secret_expires_in: LifetimeOption = "90d",
    grace_period: Annotated[
        str, typer.Option("--grace-period", metavar="TIME", help="How long the present secret stays good, 0h to 7d.")
    ] = "7d",
    project_id: GivenProjectOption = None,
    org_id: OrgOption = None,
    base_url: UrlOption = DEFAULT_URL,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Give a service account a new secret. The present one stays good for a while; rotating again ends that."""
    note_unused(org_id=org_id)
    hours = hours_of("--secret-expires-in", secret_expires_in)
    grace = grace_of("--grace-period", grace_period)
    with administered(named_store(ctx, store)) as administration:
        project = administration.project_of(client_id, project_id)
        rotated = administration.accounts.rotate(project, client_id, secret_hours=hours, grace=grace)
    _show_secret(rotated, base_url, as_json=as_json)


@service_account_app.command("delete")
def delete_command(
    ctx: typer.Context,
    *,
    client_id: ClientArgument,
    project_id: GivenProjectOption = None,
    org_id: OrgOption = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """End a service account and its tokens, at once and for good. It stays listed."""
    from memoranda.server import ServiceAccountView

    note_unused(org_id=org_id)
    with administered(named_store(ctx, store)) as administration:
        project = administration.project_of(client_id, project_id)
        view = ServiceAccountView.of(administration.accounts.delete(project, client_id))
    if as_json:
        print_json({"service_account": view})
    else:
        say(f"service account {client_id} ({view.name}) is ended, with its tokens")


def _state(view: ServiceAccountView) -> str:
    return "active" if view.is_active else "ended"


def _show(view: ServiceAccountView, *, as_json: bool) -> None:
    if as_json:
        print_json({"service_account": view})
        return
    made = table(f"service account {view.client_id}", "what", "value")
    rows = {
        "name": view.name,
        "description": view.description,
        "project": view.project_id,
        "roles": ", ".join(view.roles),
        "state": _state(view),
        "created": minute(view.created_at),
        "changed": minute(view.updated_at),
        "secret good until": minute(view.secret_expires_at),
        "old secret good until": view.previous_secret_expires_at and minute(view.previous_secret_expires_at),
        "allowed from": ", ".join(view.ip_access_list) or "everywhere",
    }
    for name, value in rows.items():
        if value:
            made.add_row(name, cell(value))
    out().print(made)


def _show_secret(new: NewSecret, base_url: str, *, as_json: bool) -> None:
    from memoranda.server import ServiceAccountView

    view = ServiceAccountView.of(new.account)
    if as_json:
        print_json({"client_secret": new.client_secret, "service_account": view})
        return
    say(f"service account {view.name!r} of project {view.project_id!r}: {', '.join(view.roles)}")
    say(f"client id:     {view.client_id}")
    say(f"client secret: {new.client_secret}")
    say(f"The secret is good until {minute(view.secret_expires_at)} UTC, and is shown this once.")
    if view.previous_secret_expires_at is not None:
        say(f"The one before it is good until {minute(view.previous_secret_expires_at)} UTC.")
    say("A token for an hour (curl asks for the secret):")
    say(
        f"curl --fail-with-body --silent --show-error --user {view.client_id} "
        f"--data grant_type=client_credentials {base_url.rstrip('/')}/api/v1/oauth/token"
    )
