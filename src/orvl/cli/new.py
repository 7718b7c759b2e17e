"""`orvl new`: an eval, an agent or a score, ready to be run and changed."""

from __future__ import annotations

import itertools
import os
import shlex
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from orvl.cli.questions import Questions, has_terminal
from orvl.errors import UserError
from orvl.project.names import did_you_mean
from orvl.report.text import plain

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from orvl.new.eval_files import CheckKind, NewEval
    from orvl.new.prompts import Ask, Prompt, PromptWriter
    from orvl.new.score_file import ScoreForm
    from orvl.project import Project

CHECKS = {
    "isolated": "a Python check tries the program from outside; hard to cheat",
    "command": "a shell command in the folder that the agent left; status 0 passes",
    "none": "nothing but metrics such as speed, and judges",
}
OF_COMMITS = ("repository", "test", "setup", "keep", "with", "model", "provider")
NOT_OF_COMMITS = ("prompt", "workspace", "check", "run", "prints", "good")


class Kinds(click.Group):
    """What can be made; an unknown word is answered with the closest one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """`orvl --project DIR new eval NAME` is understood, too."""
        size = 2 if args[:1] == ["--project"] else int(bool(args) and args[0].startswith("--project="))
        return super().parse_args(ctx, [*args[size:], *args[:size]])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args[0] not in self.commands and not args[0].startswith("-"):
            hint = did_you_mean(args[0], self.commands)
            raise UserError(f"orvl new makes an eval, an agent or a score, and no '{args[0]}'. {hint}")
        return super().resolve_command(ctx, args)


@click.group(cls=Kinds, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Make an eval, an agent or a score, ready to be run and changed.

    \b
      orvl new eval greet                          an eval with a check, in ten minutes yours
      orvl new eval fixes --commits v1.2..v1.3     an eval from your own repository, a turn for each commit
      orvl new agent mine --program 'mine --yes'   any program with a command line
      orvl new score tidy --kind checklist         a question for the panel of judges

    On a terminal it asks what no flag says, with a default for everything; elsewhere it asks nothing. It overwrites
    nothing, and Ctrl-C leaves nothing behind.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def common(function: Callable[..., Any]) -> Callable[..., Any]:
    """The flags of everything that is made."""
    yes = click.option("--yes", "-y", is_flag=True, help="Ask nothing: what no flag says has its default.")
    project = click.option("--project", metavar="DIR", help="The project's folder (default: this one).")
    return click.argument("name")(yes(project(function)))


def _questions(given: dict[str, Any]) -> Questions:
    return Questions(is_asking=has_terminal() and not given["yes"])


def _made(project: Project, path: Path, *following: str) -> int:
    """Says what is there now, and what to type next."""
    from orvl.new.place import made_files

    for file in made_files(path):
        click.echo(f"made  {_shown(project, file)}")
    for sentence in following:
        click.echo(sentence)
    return 0


def _shown(project: Project, path: Path) -> str:
    here = Path.cwd().resolve()
    return str(path.relative_to(here)) if project.root.is_relative_to(here) else str(path)


# -- an eval


@command.command("eval")
@common
@click.option("--prompt", multiple=True, metavar="TEXT", help="A turn of the conversation; repeat it for more turns.")
@click.option("--workspace", metavar="DIR", help="A folder whose files the agent starts with; it is copied.")
@click.option("--check", type=click.Choice(list(CHECKS)), help="How the result is checked (default: isolated).")
@click.option("--run", metavar="COMMAND", help="The command that tries the result, or is the check itself.")
@click.option("--prints", metavar="TEXT", help="With --check isolated: what that command must print.")
@click.option("--good", metavar="DIR", help="A folder with an example of good work; copied to controls/good.")
@click.option("--commits", metavar="OLD..NEW", help="Make it from the commits of a repository, a turn for each.")
@click.option("--repository", metavar="DIR", help="With --commits: the repository (default: around this folder).")
@click.option("--test", metavar="COMMAND", help="With --commits: what runs the tests (default: told from the files).")
@click.option("--setup", multiple=True, metavar="COMMAND", help="With --commits: installs what tests need.")
@click.option("--keep", multiple=True, metavar="PATH", help="With --commits: tests that must stay (default: all).")
@click.option("--with", multiple=True, metavar="FOLDER", help="With --commits: a folder that is no installed copy.")
@click.option("--model", metavar="MODEL", help="With --commits: the model that writes the prompts.")
@click.option("--provider", metavar="NAME", help="With --model: where it is asked.")
def new_eval(name: str, **given: Any) -> int:
    """Make an eval: prompts, files to start from, and a check; or one from your own commits.

    Without any flag it is a small example that runs at once, with an isolated check that uses orvl.checks and a good
    result that passes it. Replace the prompt, then the cases of the check.

    \b
      orvl new eval greet
      orvl new eval slugs --prompt 'Fix slugify for umlauts.' --workspace ~/slugs \\
                          --run 'python3 -m slugs Über' --prints ueber
      orvl new eval page --prompt 'Make index.html with a clock.' --check command --run 'test -s index.html'

    --commits takes a range as git does: the workspace is OLD's files, without history, and each commit after it is a
    turn. Tests that a commit changed are hidden, and must fail before it and pass after it, run after run; other tests
    must stay as they are. The commits are what good work looks like, and bugs are planted in their lines. A model, your
    editor or the commit's message says what is asked. The eval is marked as private.

    \b
      orvl new eval ours --commits HEAD~3..HEAD
      orvl new eval ours --commits v2.0..v2.1 --repository ~/shop --test 'python3 -m pytest' --keep tests/unit
      orvl new eval ours --commits main~1..main --model claude-sonnet-4-5 --provider anthropic
    """
    from orvl.new.eval_files import add_eval
    from orvl.new.place import new_name
    from orvl.project import open_project

    _refuse_mixtures(given)
    if given["commits"] is not None:
        return _from_commits(name, given)
    project = open_project(given["project"])
    name = new_name(project, "evals", name)
    new = _asked_eval(_questions(given), given)
    path = add_eval(project, name, new)
    agent = "dummy-good" if new.has_good else "AGENT"
    return _made(project, path, f"Try it: orvl {agent} --eval {shlex.quote(name)}")


def _asked_eval(questions: Questions, given: dict[str, Any]) -> NewEval:
    """The flags, and the answers to what they leave open."""
    from orvl.new import eval_files as files

    if given["check"] == "none" and (given["run"] or given["prints"]):
        raise UserError("--check none checks nothing: leave out --run and --prints.")
    if given["prints"] and (given["check"] == "command" or not (given["run"] or not given["prompt"])):
        raise UserError("--prints is what the command of an isolated check prints: add --run COMMAND.")
    further = (f"What do you ask in turn {turn}?" for turn in itertools.count(2))
    prompts = questions.lines(given["prompt"], itertools.chain(["What do you ask the agent?"], further), files.EXAMPLE)
    workspace = questions.line(given["workspace"], "A folder whose files it starts with", "", "Enter: none")
    check = questions.choice(given["check"], "How is the result checked?", CHECKS, "isolated")
    is_example = prompts == (files.EXAMPLE,)
    run = prints = ""
    if check == "command":
        run = questions.line(given["run"], "Which command checks it?", files.EXAMPLE_COMMAND if is_example else _MAIN)
    elif check == "isolated":
        run = questions.line(given["run"], "Which command tries it?", files.EXAMPLE_RUN if is_example else _MAIN)
        expected = files.EXAMPLE_PRINTS if run == files.EXAMPLE_RUN else ""
        prints = questions.line(given["prints"], "What must it print?", expected, "" if expected else "Enter: anything")
    good = given["good"] or ""
    if not is_example:
        good = questions.line(given["good"], "A folder with an example of good work", "", "Enter: none")
    return files.NewEval(
        prompts,
        check=cast("CheckKind", check),
        run=run,
        prints=prints,
        workspace=Path(workspace).expanduser() if workspace else None,
        good=Path(good).expanduser() if good else None,
    )


_MAIN = "python3 main.py"


def _refuse_mixtures(given: dict[str, Any]) -> None:
    """An eval is written by somebody, or made from commits."""
    of_commits = given["commits"] is not None
    if wrong := next((name for name in (NOT_OF_COMMITS if of_commits else OF_COMMITS) if given[name]), None):
        sentence = "commits already say that" if of_commits else "it is for evals that are made with --commits"
        raise UserError(f"Leave out --{wrong}: {sentence}.")
    if bool(given["model"]) != bool(given["provider"]):
        raise UserError("A model is asked at a provider: give both, as --model claude-sonnet-4-5 --provider anthropic.")


# -- an eval from commits


def _from_commits(name: str, given: dict[str, Any]) -> int:
    import asyncio

    from orvl.cli.common import open_with_keys_hidden
    from orvl.new.from_commits import CommitRange, eval_from_commits
    from orvl.new.place import new_name

    project = open_with_keys_hidden(given["project"])
    name = new_name(project, "evals", name)
    folder = Path(given["repository"] or ".").expanduser()
    source = CommitRange(given["commits"], folder, given["test"], given["setup"], given["keep"], given["with"])

    async def make() -> Path:
        async with _writer(project, given) as writer:
            return await eval_from_commits(project, name, source, writer, _say)

    path = asyncio.run(make())
    word = shlex.quote(name)
    return _made(project, path, f"Next: orvl check {word}", f"Try it: orvl AGENT --eval {word}")


def _say(sentence: str) -> None:
    click.echo(plain(sentence), err=True)


@asynccontextmanager
async def _writer(project: Project, given: dict[str, Any]) -> AsyncIterator[PromptWriter]:
    """Who writes prompts: a model where one is named, somebody at a terminal, or nobody for now."""
    from orvl.new.prompts import Drafts

    if not given["model"]:
        yield _Editor() if has_terminal() and not given["yes"] else Drafts()
        return
    from orvl.gateway import Gateway
    from orvl.new.model_writer import ModelWriter, reached

    model, settings = given["model"], project.settings
    provider, protocol = reached(settings, model, given["provider"], os.environ)
    gateway = Gateway(os.environ)
    try:
        yield ModelWriter(gateway, provider, protocol, model, settings.limits.judge, _say)
    finally:
        await gateway.close()


class _Editor:
    """The user's own editor, with a draft in it."""

    async def write(self, ask: Ask) -> Prompt:
        from orvl.new.prompts import editor_text, from_editor

        try:
            text = click.edit(editor_text(ask), extension=".md")
        except click.ClickException as error:
            raise UserError(f"{error.format_message()} Set EDITOR, or let the prompts be drafts with --yes.") from error
        return from_editor(text, ask)


# -- an agent


@command.command("agent")
@common
@click.option("--program", metavar="COMMAND", help="What starts it, without prompt and model (default: NAME).")
@click.option("--prompt-by", metavar="HOW", help="How it takes the prompt: argument (the default), stdin, or a flag.")
@click.option("--model-by", metavar="FLAG", help="How it is told its model (default: --model); none if it is not.")
@click.option("--protocol", metavar="NAME", help="What it speaks: openai, responses, anthropic, gemini, acp or none.")
@click.option("--models", multiple=True, metavar="PROVIDER:MODEL", help="A model that it may use; can be repeated.")
def new_agent(name: str, **given: Any) -> int:
    """Make an agent: which program it is, how it takes prompt and model, and which models it may use.

    \b
      orvl new agent mine --program 'mine run' --models zen:qwen3-coder --models ollama:qwen3-coder
      orvl new agent quiet --prompt-by stdin --model-by -m --protocol anthropic
      orvl new agent script --program 'python3 tools/agent.py' --model-by none --protocol none
    """
    from orvl.new.agent_file import add_agent
    from orvl.new.place import new_name
    from orvl.project import open_project

    project = open_project(given["project"])
    name = new_name(project, "agents", name)
    path = add_agent(project, name, _asked_agent(_questions(given), name, given))
    return _made(project, path, f"Try it: orvl {shlex.quote(name)} --dry-run")


def _asked_agent(questions: Questions, name: str, given: dict[str, Any]) -> Any:
    from orvl.new import agent_file as file

    if given["protocol"] is not None:
        file.check_protocol(given["protocol"])
    program = questions.line(given["program"], "Which command starts it?", name)
    protocol = questions.choice(given["protocol"], "What does it speak to models?", _PROTOCOLS, "openai")
    prompt_by = file.ARGUMENT
    if protocol != "acp":
        prompt_by = questions.line(
            given["prompt_by"], "How does it take the prompt? argument, stdin, or a flag", file.ARGUMENT
        )
    if prompt_by not in (file.ARGUMENT, file.STDIN) and not prompt_by.startswith("-"):
        hint = did_you_mean(prompt_by, (file.ARGUMENT, file.STDIN))
        raise UserError(f"'{prompt_by}' is no way to take a prompt: argument, stdin, or a flag. {hint}")
    default = "none" if protocol == "none" else "--model"
    model_by = questions.line(given["model_by"], "By which flag is it told its model? (none: by none)", default)
    if model_by != "none" and not model_by.startswith("-"):
        raise UserError(f"'{model_by}' is no flag; write --model-by=--model, or none.")
    models = questions.line(
        ",".join(given["models"]) or None, "Which models? PROVIDER:MODEL, …", file.DEFAULT_MODELS[protocol]
    )
    return file.NewAgent(
        program, prompt_by, "" if model_by == "none" else model_by, protocol, file.models_from([models])
    )


_PROTOCOLS = {
    "openai": "chat completions, as most agents do",
    "responses": "OpenAI's responses",
    "anthropic": "Anthropic's messages",
    "gemini": "Gemini's generateContent",
    "acp": "chat completions; and orvl speaks to it by the Agent Client Protocol",
    "none": "nothing: it is a script, or reaches its model in its own way",
}


# -- a score


@command.command("score")
@common
@click.option("--kind", metavar="KIND", help="function (the default), checklist, or judged.")
@click.option("--question", metavar="TEXT", help="What it asks, in one line.")
@click.option("--item", multiple=True, metavar="SENTENCE", help="For judges: a sentence that is true of good work.")
def new_score(name: str, **given: Any) -> int:
    """Make a score: a function of the run, a checklist for judges, or a function that asks judges.

    \b
      orvl new score small
      orvl new score handover --kind checklist --item 'The README says how to start it.'
      orvl new score careful --kind judged
    """
    from orvl.new.place import new_name
    from orvl.new.score_file import FORMS, QUESTIONS, NewScore, add_score
    from orvl.project import open_project

    project = open_project(given["project"])
    name = new_name(project, "scores", name)
    questions = _questions(given)
    if given["kind"] is not None and given["kind"] not in FORMS:
        raise UserError(f"There is no kind '{given['kind']}' of score. {did_you_mean(given['kind'], FORMS)}")
    forms = {str(form): meaning for form, meaning in FORMS.items()}
    form = cast("ScoreForm", questions.choice(given["kind"], "What is it?", forms, "function"))
    if given["item"] and form == "function":
        raise UserError("A function has no items: add --kind checklist, or leave out --item.")
    question = questions.line(given["question"], "What does it ask?", QUESTIONS[form])
    path = add_score(project, name, NewScore(form, question, given["item"]))
    judges = "" if form == "function" else " (it needs a judge: see orvl list judges)"
    return _made(project, path, f"Try it: orvl AGENT --metric {shlex.quote(name)}{judges}")
