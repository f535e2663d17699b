#include "lsp-server/commands/cli_command.h"

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::lsp {

CliCommand::CliCommand() = default;
CliCommand::CliCommand(CliCommand&&) noexcept = default;
CliCommand& CliCommand::operator=(CliCommand&&) noexcept = default;
CliCommand::~CliCommand() = default;

CliCommand CliCommand::root(std::string name, std::string description) {
    CliCommand command;
    command.owned_ = std::make_shared<CLI::App>(std::move(description), std::move(name));
    command.app_ = command.owned_.get();
    command.app_->fallthrough();
    return command;
}

CliCommand& CliCommand::add(std::string name, std::string description) {
    auto child = std::unique_ptr<CliCommand>(new CliCommand());
    child->app_ = app_->add_subcommand(std::move(name), std::move(description));
    child->app_->fallthrough();
    return *children_.emplace_back(std::move(child));
}

void CliCommand::hide() {
    app_->group("");
}

void CliCommand::footer(std::string text) {
    app_->footer(std::move(text));
}

void CliCommand::requireSubcommand() {
    app_->require_subcommand(1);
}

void CliCommand::version(std::string text) {
    app_->set_version_flag("--version", std::move(text));
}

void CliCommand::option(OptionTarget target, OptionText text) {
    CLI::Option* option = std::visit(
        [&](auto* value) { return app_->add_option(text.name, *value, text.help); }, target);
    if (std::holds_alternative<std::vector<std::string>*>(target) && !option->get_positional())
        option->allow_extra_args(false); // one word each time
    option->type_name(text.placeholder);
    if (!text.group.empty())
        option->group(text.group);
    option->required(text.required);
    if (!text.choices.empty())
        option->check(CLI::IsMember(text.choices));
    if (text.range)
        option->check(CLI::Range(text.range->first, text.range->second));
    if (!text.excludes.empty())
        option->excludes(app_->get_option(text.excludes));
    if (text.check)
        option->check(text.check);
    if (text.whenGiven)
        option->each([given = std::move(text.whenGiven)](const std::string&) { given(); });
}

void CliCommand::flag(bool& target, OptionText text) {
    CLI::Option* option = app_->add_flag(text.name, target, text.help);
    if (!text.group.empty())
        option->group(text.group);
    if (!text.excludes.empty())
        option->excludes(app_->get_option(text.excludes));
}

void CliCommand::whenChosen(std::function<void()> chosen) {
    app_->callback([app = app_, chosen = std::move(chosen)] {
        if (app->get_subcommands().empty())
            chosen();
    });
}

void CliCommand::whenParsed(std::function<void()> parsed) {
    app_->parse_complete_callback(std::move(parsed));
}

CliCommand::ParseOutcome CliCommand::parse(std::vector<std::string> arguments) {
    try {
        std::ranges::reverse(arguments); // CLI11 takes them last first.
        app_->parse(std::move(arguments));
    } catch (const CLI::Success& answered) {
        return {app_->exit(answered), {}};
    } catch (const CLI::ParseError& problem) {
        // CLI11 misses the subcommand before it looks at what stands in its place.
        const std::vector<std::string> rest =
            app_->get_subcommands().empty() ? app_->remaining() : std::vector<std::string>{};
        return {std::nullopt,
                rest.empty() ? problem.what() : fmt::format("no subcommand '{}'", rest.front())};
    }
    return {};
}

} // namespace kernelskill::lsp
