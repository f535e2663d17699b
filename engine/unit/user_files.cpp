#include "engine/unit/user_files.h"

#include "analysis/source/files.h"
#include "engine/process/walls.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <optional>
#include <set>
#include <system_error>

namespace kernelskill::engine {

using analysis::TokenKind;

namespace {

constexpr std::uintmax_t maxUserFileBytes = 16u << 20;
constexpr std::size_t maxUserFiles = 512;

class Collector {
public:
    Collector(const ProgramSource& program, const std::filesystem::path& preludeInclude)
        : program_(program), preludeInclude_(preludeInclude.lexically_normal()) {
        projectFolders_ = {projectOf(canonical(absolute(program.file)))};
        const std::vector<std::filesystem::path> named(program.command.includeDirs.begin(),
                                                       program.command.includeDirs.end());
        for (const auto& folder : withoutPrivate(named))
            projectFolders_.push_back(canonical(folder));
    }

    std::vector<UserFile> run() {
        add(root());
        for (const auto& forced : program_.command.forcedIncludes)
            add(absolute(forced));
        readPending();
        if (program_.model) {
            for (const auto& name : program_.model->userFiles)
                add(absolute(name));
            readPending();
        }
        return std::move(files_);
    }

private:
    /// The file that the compiler is called with.
    std::filesystem::path root() const {
        return absolute(program_.command.includer.empty() ? program_.file
                                                          : program_.command.includer);
    }

    void readPending() {
        while (!pending_.empty()) {
            const auto path = pending_.front();
            pending_.pop_front();
            if (auto text = contentsOf(path))
                files_.push_back(withIncludes({path, std::move(*text), {}}));
        }
    }

    std::filesystem::path absolute(const std::filesystem::path& path) const {
        std::error_code ignored;
        const auto base = program_.command.directory.empty()
                              ? std::filesystem::current_path(ignored)
                              : program_.command.directory;
        return (path.is_absolute() ? path : base / path).lexically_normal();
    }

    bool isSystem(const std::filesystem::path& path) const {
        if (path == absolute(program_.file) || path == root())
            return false;
        static constexpr std::array<std::string_view, 5> systemFolders = {
            "/usr/include", "/usr/lib", "/usr/local/include", "/usr/local/cuda", "/opt/nvidia"};
        if (std::ranges::any_of(systemFolders,
                                [&](auto folder) { return path.native().starts_with(folder); }))
            return true;
        if (analysis::isBelow(path, preludeInclude_))
            return true;
        return std::ranges::any_of(program_.command.systemIncludeDirs, [&](const auto& folder) {
            return analysis::isBelow(path, std::filesystem::path(folder).lexically_normal());
        });
    }

    static std::filesystem::path canonical(const std::filesystem::path& path) {
        std::error_code error;
        auto result = std::filesystem::weakly_canonical(path, error);
        return error ? path : result;
    }

    /// The outermost folder that may be a project's: the one in the home folder, or in a folder
    /// that users share, or else at the root.
    static std::filesystem::path projectOf(const std::filesystem::path& file) {
        constexpr std::array<std::string_view, 8> shared = {"home", "tmp", "root", "var",
                                                            "etc",  "mnt", "run",  "proc"};
        const char* variable = std::getenv("HOME");
        const auto home = canonical(variable == nullptr ? "" : variable);
        auto base = file.root_path();
        if (!home.empty() && analysis::isBelow(file, home))
            base = home;
        else if (const auto first = *file.relative_path().begin();
                 std::ranges::find(shared, first.string()) != shared.end())
            base /= first;
        const auto below = file.lexically_relative(base);
        return std::next(below.begin()) == below.end() ? file : base / *below.begin();
    }

    /// Whether the text may be handed to a compiler: what an #include names may be any file of the
    /// user, or a link to one.
    bool isOfProject(const std::filesystem::path& path) const {
        if (path == absolute(program_.file) || program_.unsaved.contains(path.string()))
            return true;
        const auto real = canonical(path);
        if (real.parent_path() == canonical(absolute(program_.file)).parent_path())
            return true;
        return std::ranges::any_of(
            projectFolders_, [&](const auto& folder) { return analysis::isBelow(real, folder); });
    }

    void add(const std::filesystem::path& path) {
        if (seen_.size() < maxUserFiles && !isSystem(path) && isOfProject(path) &&
            seen_.insert(path).second)
            pending_.push_back(path);
    }

    std::optional<std::string> contentsOf(const std::filesystem::path& path) const {
        if (path == absolute(program_.file))
            return program_.text;
        if (const auto open = program_.unsaved.find(path.string()); open != program_.unsaved.end())
            return open->second;
        return analysis::readFile(path, maxUserFileBytes);
    }

    bool exists(const std::filesystem::path& path) const {
        std::error_code ignored;
        return program_.unsaved.contains(path.string()) ||
               std::filesystem::is_regular_file(path, ignored);
    }

    UserFile withIncludes(UserFile file) {
        const auto tokens = analysis::lex(file.text);
        for (const auto& token : tokens) {
            if (token.kind != TokenKind::Directive)
                continue;
            const auto [name, remainder] = analysis::directiveParts(token.text);
            if (name != "include" && name != "include_next")
                continue;
            IncludeLine line{token.span, {}, {}};
            const char close = remainder.starts_with("<") ? '>' : '"';
            const auto end = remainder.find(close, 1);
            if ((remainder.starts_with("<") || remainder.starts_with("\"")) &&
                end != std::string_view::npos) {
                line.spelling = remainder.substr(0, end + 1);
                line.resolved = resolve(line.spelling, file.path.parent_path());
                if (!line.resolved.empty())
                    add(line.resolved);
            }
            file.includes.push_back(std::move(line));
        }
        return file;
    }

    /// The user file that an #include names, or empty.
    std::filesystem::path resolve(std::string_view spelling,
                                  const std::filesystem::path& folder) const {
        const std::filesystem::path name(spelling.substr(1, spelling.size() - 2));
        std::vector<std::filesystem::path> folders;
        if (spelling.starts_with("\""))
            folders.push_back(folder);
        folders.insert(folders.end(), program_.command.includeDirs.begin(),
                       program_.command.includeDirs.end());
        for (const auto& candidate : folders) {
            const auto path = absolute(candidate / name);
            if (exists(path))
                return isSystem(path) ? std::filesystem::path{} : path;
        }
        return {};
    }

    const ProgramSource& program_;
    std::filesystem::path preludeInclude_;
    std::vector<std::filesystem::path> projectFolders_;
    std::vector<UserFile> files_;
    std::deque<std::filesystem::path> pending_;
    std::set<std::filesystem::path> seen_;
};

} // namespace

std::vector<UserFile> collectUserFiles(const ProgramSource& program,
                                       const std::filesystem::path& preludeInclude) {
    return Collector(program, preludeInclude).run();
}

} // namespace kernelskill::engine
