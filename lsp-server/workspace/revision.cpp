#include "lsp-server/workspace/revision.h"

#include "analysis/source/files.h"
#include "analysis/source/program_search.h"
#include "engine/process/git_command.h"
#include "lsp-server/workspace/ownership.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

namespace kernelskill::lsp {

namespace {

Error invalid(std::string what, const std::filesystem::path& where, std::string remedy) {
    return {ErrorKind::InvalidInput, std::move(what), where.string(), std::move(remedy)};
}

/// Asks git, which refuses repositories of other users.
Result<engine::ChildOutcome> askGit(const std::filesystem::path& folder,
                                    std::vector<std::string> arguments, std::string input,
                                    std::stop_token stop) {
    auto done =
        engine::runGit(folder, std::move(arguments),
                       isOwn(folder) ? engine::GitOwner::Believed : engine::GitOwner::Checked,
                       std::move(stop), std::move(input));
    if (!done && done.error().kind == ErrorKind::Missing)
        done.error().remedy = "install git, or compare with a file (--against FILE)";
    return done;
}

std::string_view firstLine(std::string_view text) {
    return text.substr(0, text.find('\n'));
}

struct Commit {
    std::filesystem::path root; ///< The working tree's root, with links resolved.
    std::string id;
};

Result<Commit> findCommit(const std::filesystem::path& file, const std::string& revision,
                          std::stop_token stop) {
    if (revision.empty() || revision.starts_with('-') ||
        revision.find_first_of(std::string_view("\n\0", 2)) != std::string::npos)
        return std::unexpected(invalid(fmt::format("'{}' is no revision", revision), file,
                                       "name a commit, a branch or a tag, such as HEAD or main"));
    const auto done =
        askGit(file.parent_path(), {"rev-parse", "--show-toplevel", revision + "^{commit}"}, "",
               std::move(stop));
    if (!done)
        return std::unexpected(done.error());
    const std::string_view output = done->output;
    const std::string_view root = firstLine(output);
    if (done->status == 0 && root.size() + 1 < output.size())
        return Commit{std::string(root), std::string(firstLine(output.substr(root.size() + 1)))};
    if (done->messages.contains("not a git repository"))
        return std::unexpected(invalid("the file is in no git repository", file,
                                       "name the version to compare with: --against FILE"));
    if (done->messages.contains("dubious ownership"))
        return std::unexpected(invalid("the git repository belongs to another user", file,
                                       "if you trust it, run `kernelskill trust` in its folder"));
    constexpr std::array<std::string_view, 3> unknown{"unknown revision", "expected commit type",
                                                      "does not exist in"};
    if (std::ranges::any_of(unknown, [&](auto part) { return done->messages.contains(part); }))
        return std::unexpected(
            invalid(fmt::format("the repository has no revision '{}'", revision), file,
                    "`git log --oneline` lists the commits, `git branch -a` the branches"));
    return std::unexpected(Error{ErrorKind::Failed,
                                 "git failed: " + std::string(firstLine(done->messages)),
                                 file.string(), ""});
}

/// Takes the next blob of `git cat-file --batch` off `output`; nullopt if git has no such object.
std::optional<std::string> takeBlob(std::string_view& output) {
    const std::string_view header = firstLine(output);
    output.remove_prefix(std::min(header.size() + 1, output.size()));
    const auto space = header.rfind(' ');
    if (space == std::string_view::npos || !header.substr(0, space).ends_with(" blob"))
        return std::nullopt;
    std::size_t size = 0;
    const char* end = header.data() + header.size();
    const auto [stop, error] = std::from_chars(header.data() + space + 1, end, size);
    if (error != std::errc{} || stop != end || size > output.size())
        return std::nullopt;
    std::string text(output.substr(0, size));
    output.remove_prefix(std::min(size + 1, output.size()));
    return text;
}

} // namespace

Result<RevisionTexts> textsInRevision(const std::filesystem::path& file,
                                      const std::vector<std::filesystem::path>& others,
                                      const std::string& revision, std::stop_token stop) {
    auto commit = findCommit(file, revision, stop);
    if (!commit)
        return std::unexpected(std::move(commit.error()));
    std::vector<std::filesystem::path> asked;
    std::string input;
    const auto ask = [&](const std::filesystem::path& path) {
        const auto inside = analysis::canonicalPath(path).lexically_relative(commit->root);
        const bool isInside = !inside.empty() && *inside.begin() != "..";
        if (!isInside || inside.string().contains('\n'))
            return false;
        input += fmt::format("{}:{}\n", commit->id, inside.generic_string());
        asked.push_back(path);
        return true;
    };
    if (!ask(file))
        return std::unexpected(invalid("the file lies outside of the repository's working tree",
                                       file, "compare with a file: --against FILE"));
    for (const std::filesystem::path& other : others)
        static_cast<void>(ask(other));
    const auto done =
        askGit(file.parent_path(), {"cat-file", "--batch"}, std::move(input), std::move(stop));
    if (!done)
        return std::unexpected(done.error());
    if (done->status != 0)
        return std::unexpected(Error{ErrorKind::Failed,
                                     "git failed: " + std::string(firstLine(done->messages)),
                                     file.string(), ""});
    RevisionTexts found{std::move(commit->id), {}};
    std::string_view output = done->output;
    for (const std::filesystem::path& path : asked)
        if (auto text = takeBlob(output))
            found.texts.emplace(path, std::move(*text));
    if (!found.texts.contains(file))
        return std::unexpected(
            invalid(fmt::format("'{}' does not have the file, or it is over 4 MB there", revision),
                    file, "`git status` tells whether it was ever committed"));
    return found;
}

std::filesystem::path headLog(const std::filesystem::path& file) {
    std::error_code ignored;
    for (auto folder = file.parent_path(); folder.has_relative_path();
         folder = folder.parent_path()) {
        const auto git = folder / ".git";
        if (std::filesystem::is_directory(git, ignored))
            return git / "logs" / "HEAD";
        if (!std::filesystem::is_regular_file(git, ignored))
            continue;
        // A further working tree: "gitdir: /repository/.git/worktrees/name".
        const auto text = analysis::readFile(git);
        constexpr std::string_view key = "gitdir: ";
        if (!text || !text->starts_with(key))
            return {};
        const std::filesystem::path named(firstLine(std::string_view(*text).substr(key.size())));
        return (named.is_absolute() ? named : folder / named) / "logs" / "HEAD";
    }
    return {};
}

} // namespace kernelskill::lsp
