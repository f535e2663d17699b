#include "engine/review/program_comparison.h"

#include "engine/inputs/launch_inference.h"
#include "engine/inputs/launch_source.h"
#include "engine/inputs/program_text.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace kernelskill::engine {
namespace {

/// The declarations of a program's files that kernels may use, by name.
class DeclaredNames {
public:
    explicit DeclaredNames(const analysis::FileModel& model) : text_(model) {
        for (const ProgramText::File& file : text_.files()) {
            for (const analysis::Declaration& declaration : file.declarations)
                add(file, declaration);
            for (const analysis::Token& token : file.tokens)
                if (token.kind == analysis::TokenKind::Directive)
                    hostText_.append(token.text).append("\n");
        }
    }

    /// The declarations and macros of that name, without comments and white space.
    [[nodiscard]] std::vector<std::string> meaningsOf(const std::string& name) const {
        std::vector<std::string> meanings;
        const auto [begin, end] = declarations_.equal_range(name);
        for (auto at = begin; at != end; ++at)
            meanings.push_back(at->second.text);
        for (const analysis::Macro& macro : text_.macros().all(name))
            meanings.push_back(macro.body);
        std::ranges::sort(meanings);
        return meanings;
    }

    /// The names that the declarations and macros of `name` mention.
    [[nodiscard]] std::set<std::string> mentionedBy(const std::string& name) const {
        std::set<std::string> mentioned;
        const auto [begin, end] = declarations_.equal_range(name);
        for (auto at = begin; at != end; ++at)
            mentioned.insert(at->second.identifiers.begin(), at->second.identifiers.end());
        for (const analysis::Macro& macro : text_.macros().all(name))
            for (const analysis::Token& token : analysis::lex(macro.body))
                if (token.isIdentifier())
                    mentioned.emplace(token.text);
        return mentioned;
    }

    /// The text that launches follow from: directives, and what is neither a kernel nor a device
    /// function.
    [[nodiscard]] const std::string& hostText() const { return hostText_; }

private:
    struct Meaning {
        std::string text;
        std::set<std::string> identifiers;
    };

    void add(const ProgramText::File& file, const analysis::Declaration& declaration) {
        Meaning meaning;
        auto token = std::ranges::lower_bound(file.tokens, declaration.span.begin, {},
                                              [](const auto& each) { return each.span.begin; });
        for (; token != file.tokens.end() && token->span.end <= declaration.span.end; ++token) {
            meaning.text.append(token->text).append(" ");
            if (token->isIdentifier())
                meaning.identifiers.emplace(token->text);
        }
        if (!declaration.isKernel && !declaration.isDevice)
            hostText_ += meaning.text;
        // No kernel calls it: one that mentions its name means a variable of its own.
        if (declaration.kind == analysis::DeclarationKind::Function && !declaration.isKernel &&
            !declaration.isDevice && !declaration.isConstexpr)
            return;
        for (const std::string& name : declaration.names)
            declarations_.emplace(name, meaning);
    }

    ProgramText text_;
    std::string hostText_;
    std::multimap<std::string, Meaning> declarations_;
};

/// Compares the declarations of two programs.
class NameComparison {
public:
    NameComparison(const analysis::FileModel& before, const analysis::FileModel& after)
        : before_(before), after_(after) {}

    /// Whether something that `name` means or mentions, at any remove, differs.
    [[nodiscard]] bool differs(const std::string& name) {
        std::set<std::string> seen{name};
        std::vector<std::string> open{name};
        while (!open.empty()) {
            const std::string next = std::move(open.back());
            open.pop_back();
            const Known& known = look(next);
            if (known.differs)
                return true;
            for (const std::string& mentioned : known.mentioned)
                if (seen.insert(mentioned).second)
                    open.push_back(mentioned);
        }
        return false;
    }

    [[nodiscard]] bool hostDiffers() const { return before_.hostText() != after_.hostText(); }

private:
    struct Known {
        bool differs = false;
        std::set<std::string> mentioned;
    };

    const Known& look(const std::string& name) {
        const auto found = known_.find(name);
        if (found != known_.end())
            return found->second;
        Known known{before_.meaningsOf(name) != after_.meaningsOf(name), {}};
        if (!known.differs)
            known.mentioned = before_.mentionedBy(name);
        return known_.emplace(name, std::move(known)).first->second;
    }

    DeclaredNames before_;
    DeclaredNames after_;
    std::map<std::string, Known, std::less<>> known_;
};

bool areAlike(const LaunchSpec& one, const LaunchSpec& other) {
    const auto integers = [](const LaunchSpec& launch) {
        std::vector<std::optional<std::int64_t>> values;
        for (const ArgumentSpec& argument : launch.arguments)
            if (const auto* scalar = std::get_if<ScalarSpec>(&argument))
                values.push_back(scalar->integer);
        return values;
    };
    return one.grid == other.grid && one.block == other.block &&
           one.dynamicSharedBytes == other.dynamicSharedBytes &&
           one.templateArguments == other.templateArguments && integers(one) == integers(other);
}

/// Compares the launches of two programs, as far as they can be computed.
class LaunchComparison {
public:
    LaunchComparison(const analysis::FileModel& before, const analysis::FileModel& after)
        : before_(before), after_(after),
          sourceBefore_(std::make_shared<const LaunchSource>(before)),
          sourceAfter_(std::make_shared<const LaunchSource>(after)) {}

    [[nodiscard]] bool differs(const analysis::KernelModel& before,
                               const analysis::KernelModel& after) const {
        if (before.launches.size() != after.launches.size())
            return true;
        const auto one = inferLaunches(sourceBefore_, before_, before, LaunchTarget::Emulator, {});
        const auto other = inferLaunches(sourceAfter_, after_, after, LaunchTarget::Emulator, {});
        if (!one || !other)
            return one.has_value() != other.has_value();
        return !std::ranges::equal(*one, *other, areAlike);
    }

private:
    const analysis::FileModel& before_;
    const analysis::FileModel& after_;
    std::shared_ptr<const LaunchSource> sourceBefore_;
    std::shared_ptr<const LaunchSource> sourceAfter_;
};

} // namespace

struct ProgramComparison::Parts {
    Parts(const analysis::FileModel& before, const analysis::FileModel& after)
        : names(before, after) {
        if (names.hostDiffers())
            launches.emplace(before, after);
    }

    NameComparison names;
    std::optional<LaunchComparison> launches; ///< Only if text differs that launches follow from.
};

ProgramComparison::ProgramComparison(const analysis::FileModel& before,
                                     const analysis::FileModel& after)
    : parts_(std::make_unique<Parts>(before, after)) {}

ProgramComparison::~ProgramComparison() = default;

bool ProgramComparison::codeDiffers(const std::string& kernel) {
    return parts_->names.differs(kernel);
}

bool ProgramComparison::launchesDiffer(const analysis::KernelModel& before,
                                       const analysis::KernelModel& after) const {
    return parts_->launches && parts_->launches->differs(before, after);
}

} // namespace kernelskill::engine
