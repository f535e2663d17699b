/// A command of the command line: its name, options and help. Only cli_command.cpp includes CLI11,
/// which takes a compiler ten seconds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace kernelskill::lsp {

/// How an option is written, and what `--help` says of it.
struct OptionText {
    std::string name;             ///< "--kernel", or "FILE" for a positional argument.
    std::string placeholder = {}; ///< "NAME"; empty for positional arguments and flags.
    std::string help;
    std::string group = {}; ///< Heading of its own in `--help`.
    bool required = false;
    std::vector<std::string> choices = {}; ///< The only values that are accepted; empty: any.
    std::optional<std::pair<double, double>> range = std::nullopt; ///< Min and max value.
    std::string excludes = {}; ///< Name of an option that cannot be given together with this one.
    /// Returns what is wrong with a value; empty if nothing is.
    std::function<std::string(const std::string&)> check = nullptr;
    std::function<void()> whenGiven = nullptr;
};

/// The variable that gets the value of an option. A vector of strings takes one each time the
/// option is given; a pair takes two words at once.
using OptionTarget = std::variant<std::string*, std::vector<std::string>*, int*, std::uint32_t*,
                                  std::uint64_t*, double*, std::pair<double, double>*>;

/// Variables that options store to have to live until the arguments are parsed and run.
class CliCommand {
public:
    /// The program itself: its subcommands accept its options, too.
    static CliCommand root(std::string name, std::string description);

    CliCommand(CliCommand&&) noexcept;
    CliCommand& operator=(CliCommand&&) noexcept;
    ~CliCommand();

    /// A subcommand, which accepts this command's options as well. It belongs to this command.
    CliCommand& add(std::string name, std::string description);
    /// Takes it out of `--help`: it belongs to other programs.
    void hide();
    /// Text behind the options in `--help`.
    void footer(std::string text);
    /// Exactly one subcommand has to be given.
    void requireSubcommand();
    /// `--version` prints `text`.
    void version(std::string text);

    void option(OptionTarget target, OptionText text);
    void flag(bool& target, OptionText text);
    /// Called when the command line names this command and no subcommand of it.
    void whenChosen(std::function<void()> chosen);

    /// Called for each command that the command line names, before whenChosen() of any.
    void whenParsed(std::function<void()> parsed);

    struct ParseOutcome {
        /// Set if the program has nothing more to do: `--help` or `--version` was answered.
        std::optional<int> exitStatus;
        std::string problem; ///< Why the arguments cannot be parsed; empty: they were.
    };
    /// For the root only. Prints help and version to standard output.
    [[nodiscard]] ParseOutcome parse(std::vector<std::string> arguments);

private:
    CliCommand();

    std::shared_ptr<CLI::App> owned_; ///< Null in all but the root.
    CLI::App* app_ = nullptr;
    std::vector<std::unique_ptr<CliCommand>> children_;
};

} // namespace kernelskill::lsp
