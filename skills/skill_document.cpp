#include "skills/skill_document.h"

#include "analysis/source/files.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>
#include <utility>

namespace kernelskill::skills {

namespace {

constexpr std::array<std::pair<std::string_view, SkillKind>, 3> kinds = {{
    {"source", SkillKind::Source},
    {"launch", SkillKind::Launch},
    {"library", SkillKind::Library},
}};

constexpr std::array<std::pair<std::string_view, SkillRole>, 2> roles = {{
    {"answer", SkillRole::Answer},
    {"hygiene", SkillRole::Hygiene},
}};

constexpr std::array<std::pair<std::string_view, Numerics>, 3> numericsNames = {{
    {"exact", Numerics::Exact},
    {"reassociates", Numerics::Reassociates},
    {"reduced-precision", Numerics::ReducedPrecision},
}};

constexpr std::array<std::string_view, 12> bottlenecks = {
    "memory-bandwidth", "memory-latency",       "uncoalesced-access", "bank-conflicts",
    "compute",          "tensor-core-eligible", "occupancy",          "register-spill",
    "divergence",       "launch-overhead",      "synchronization",    "balanced"};

constexpr std::array<std::string_view, 13> fields = {
    "name",  "description", "title", "lens",          "kind",          "role",   "numerics",
    "error", "bottlenecks", "when",  "expected_gain", "failure_modes", "sources"};

constexpr std::size_t maxName = 64;

/// Half a unit in the last place of bfloat16 at 1, several times.
constexpr double largestStatedError = 0x1p-6;

Read<SkillMetadata> readFields(const FrontMatter& front) {
    SkillMetadata skill;
    if (auto known = front.requireOnly(fields); !known)
        return std::unexpected(known.error());
    std::optional<DocumentProblem> problem;
    const auto store = [&](auto& target, auto value) {
        if (value)
            target = std::move(*value);
        else if (!problem)
            problem = value.error();
    };
    store(skill.id, front.text("name"));
    store(skill.description, front.text("description"));
    store(skill.title, front.text("title"));
    store(skill.kind, kindOf(front));
    if (front.has("role"))
        store(skill.role, roleOf(front));
    store(skill.numerics, numericsOf(front));
    if (front.has("error"))
        store(skill.error, errorOf(front, skill.numerics));
    store(skill.bottlenecks, bottlenecksOf(front));
    store(skill.when, front.list("when"));
    store(skill.expectedGain, front.text("expected_gain"));
    store(skill.failureModes, front.list("failure_modes"));
    store(skill.sources, front.list("sources"));
    if (problem)
        return std::unexpected(*problem);
    if (front.prose().empty())
        return std::unexpected(DocumentProblem{1, "the method is missing below the front matter"});
    skill.method = front.prose();
    return skill;
}

template <typename Value, std::size_t count>
std::string_view spelled(Value value,
                         const std::array<std::pair<std::string_view, Value>, count>& spellings) {
    const auto found =
        std::ranges::find(spellings, value, [](const auto& pair) { return pair.second; });
    return found == spellings.end() ? std::string_view{} : found->first;
}

/// "3", "4e-7" or "2^-22"; nullopt if it is none of these or negative.
std::optional<double> numberIn(std::string_view text) {
    const auto decimal = [](std::string_view digits) -> std::optional<double> {
        double value = 0;
        const auto [end, fault] =
            std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (fault != std::errc{} || end != digits.data() + digits.size() || !std::isfinite(value))
            return std::nullopt;
        return value;
    };
    const std::size_t caret = text.find('^');
    auto value = decimal(text.substr(0, caret));
    if (value && caret != std::string_view::npos) {
        const auto exponent = decimal(text.substr(caret + 1));
        value = exponent ? std::optional(std::pow(*value, *exponent)) : std::nullopt;
    }
    return value && std::isfinite(*value) && *value >= 0 ? value : std::nullopt;
}

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(' ');
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// One term, e.g. "2 ulp".
std::optional<StatedError> termIn(std::string_view text) {
    const std::size_t space = text.find(' ');
    if (space == std::string_view::npos)
        return std::nullopt;
    const auto value = numberIn(text.substr(0, space));
    const std::string_view unit = trimmed(text.substr(space));
    if (!value)
        return std::nullopt;
    if (unit == "ulp")
        return StatedError{*value, 0};
    if (unit == "relative")
        return StatedError{*value / unitInTheLastPlace, 0};
    if (unit == "absolute")
        return StatedError{0, *value};
    return std::nullopt;
}

/// The value of one function in the field `error`.
std::optional<StatedError> statedIn(std::string_view function, std::string_view text) {
    if (trimmed(text) == "documented")
        return documentedError(function);
    StatedError sum;
    for (;;) {
        const std::size_t plus = text.find('+');
        const auto term = termIn(trimmed(text.substr(0, plus)));
        if (!term)
            return std::nullopt;
        sum += *term;
        if (plus == std::string_view::npos)
            return sum;
        text.remove_prefix(plus + 1);
    }
}

} // namespace

Read<StatedError> errorOf(const FrontMatter& front, Numerics numerics) {
    if (numerics != Numerics::ReducedPrecision)
        return std::unexpected(DocumentProblem{front.lineOf("error"),
                                               "an error is stated for the numerics "
                                               "reduced-precision alone"});
    const auto functions = front.map("error");
    if (!functions)
        return std::unexpected(functions.error());
    StatedError sum;
    for (const FrontMatter::Entry& function : *functions) {
        const auto stated = statedIn(function.name, function.value);
        if (!stated)
            return std::unexpected(DocumentProblem{
                function.line,
                fmt::format("'{}' states no error of {}; it may be a sum of terms such as '2 ulp', "
                            "'2^-22 absolute' and '1e-3 relative', or 'documented' for a function "
                            "whose error CUDA documents",
                            function.value, function.name)});
        sum += *stated;
    }
    if (sum.ulps * unitInTheLastPlace + sum.absolute > largestStatedError)
        return std::unexpected(DocumentProblem{
            front.lineOf("error"),
            fmt::format("the errors add up to more than {:.2g}, which no comparison of results "
                        "judges",
                        largestStatedError)});
    return sum;
}

std::span<const std::string_view> bottleneckNames() {
    return bottlenecks;
}

Read<std::vector<std::string>> bottlenecksOf(const FrontMatter& front) {
    auto named = front.list("bottlenecks");
    if (!named)
        return named;
    for (const std::string& name : *named)
        if (std::ranges::find(bottlenecks, name) == bottlenecks.end())
            return std::unexpected(DocumentProblem{
                front.lineOf("bottlenecks"), fmt::format("'{}' is no kind of bottleneck; known are "
                                                         "{}",
                                                         name, fmt::join(bottlenecks, ", "))});
    return named;
}

Read<std::string> lensTitleOf(const FrontMatter& front) {
    auto title = front.text("lens");
    if (title && title->size() > maxLensTitle)
        return std::unexpected(DocumentProblem{
            front.lineOf("lens"),
            fmt::format("'{}' has more than {} bytes, so a line of lenses does not hold it", *title,
                        maxLensTitle)});
    return title;
}

Read<SkillKind> kindOf(const FrontMatter& front) {
    return front.named("kind", kinds);
}
Read<SkillRole> roleOf(const FrontMatter& front) {
    return front.named("role", roles);
}
Read<Numerics> numericsOf(const FrontMatter& front) {
    return front.named("numerics", numericsNames);
}

Result<SkillMetadata> parseSkillDocument(std::string_view text, std::string_view path) {
    const auto front = FrontMatter::parse(text);
    auto skill = front ? readFields(*front) : std::unexpected(front.error());
    if (!skill)
        return std::unexpected(documentError(path, skill.error()));
    skill->file = path;
    return std::move(*skill);
}

Result<std::vector<std::filesystem::path>> documentsIn(const std::filesystem::path& directory) {
    std::error_code failure;
    std::vector<std::filesystem::path> paths;
    for (std::filesystem::directory_iterator entry(directory, failure), end;
         !failure && entry != end; entry.increment(failure)) {
        const std::filesystem::path document = entry->path() / "SKILL.md";
        std::error_code ignored;
        if (std::filesystem::is_regular_file(document, ignored))
            paths.push_back(document);
    }
    if (failure)
        return std::unexpected(Error{ErrorKind::Missing,
                                     "cannot list the skills: " + failure.message(),
                                     directory.string(), ""});
    std::ranges::sort(paths);
    return paths;
}

bool isSkillName(std::string_view name) {
    const auto isLetter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    };
    return !name.empty() && name.size() <= maxName && std::ranges::all_of(name, isLetter) &&
           !name.starts_with('-') && !name.ends_with('-') &&
           name.find("--") == std::string_view::npos;
}

Read<void> requireFolderName(std::string_view name, const std::filesystem::path& document) {
    if (!isSkillName(name))
        return std::unexpected(DocumentProblem{
            1, fmt::format("the name '{}' is not made of lower-case letters, digits and single "
                           "hyphens, {} at most",
                           name, maxName)});
    if (name != document.parent_path().filename().string())
        return std::unexpected(
            DocumentProblem{1, fmt::format("'{}' is not the name of its folder", name)});
    return {};
}

SkillDocuments loadSkillDocuments(const std::filesystem::path& directory) {
    SkillDocuments documents;
    const auto paths = documentsIn(directory);
    if (!paths) {
        documents.errors.push_back(paths.error());
        return documents;
    }
    for (const auto& path : *paths) {
        const auto text = analysis::readFile(path);
        if (!text) {
            documents.errors.push_back({ErrorKind::InvalidInput, "cannot read", path.string(), ""});
            continue;
        }
        auto skill = parseSkillDocument(*text, path.string());
        if (!skill) {
            documents.errors.push_back(std::move(skill.error()));
            continue;
        }
        if (auto named = requireFolderName(skill->id, path); !named) {
            documents.errors.push_back(documentError(path.string(), named.error()));
            continue;
        }
        const auto front = FrontMatter::parse(*text);
        auto lens = front ? lensTitleOf(*front) : std::unexpected(front.error());
        if (!lens) {
            documents.errors.push_back(documentError(path.string(), lens.error()));
            continue;
        }
        documents.lensTitles.emplace(skill->id, std::move(*lens));
        documents.skills.push_back(std::move(*skill));
    }
    return documents;
}

std::string_view spelling(SkillKind kind) {
    return spelled(kind, kinds);
}
std::string_view spelling(SkillRole role) {
    return spelled(role, roles);
}
std::string_view spelling(SkillOrigin origin) {
    switch (origin) {
    case SkillOrigin::BuiltIn:
        return "built-in";
    case SkillOrigin::User:
        return "user";
    case SkillOrigin::Workspace:
        return "workspace";
    }
    return {};
}
std::string_view spelling(Numerics numerics) {
    return spelled(numerics, numericsNames);
}

} // namespace kernelskill::skills
