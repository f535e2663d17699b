#include "skills/kernel-fusion/fused_names.h"

#include "analysis/queries/code_map.h"
#include "analysis/queries/source_words.h"
#include "analysis/source/try.h"
#include "analysis/syntax/lexer.h"
#include "skills/base/gates.h"
#include "skills/gates/fixed_value.h"
#include "skills/kernel-fusion/compared_code.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Returns the words of a name: "fdtd", "step1", "kernel" of "fdtd_step1_kernel", or "add", "Bias"
/// of "addBias".
std::vector<std::string> partsOfName(const std::string& name, bool hasUnderscores) {
    std::vector<std::string> words(1);
    for (const char letter : name) {
        const bool isBorder =
            hasUnderscores ? letter == '_' : std::isupper(static_cast<unsigned char>(letter)) != 0;
        if (isBorder && !words.back().empty())
            words.emplace_back();
        if (!hasUnderscores || letter != '_')
            words.back() += letter;
    }
    return words;
}

/// Returns "fdtd_step1_step2_kernel" of "fdtd_step1_kernel" and "fdtd_step2_kernel".
std::string nameOfBoth(const std::string& first, const std::string& second) {
    const bool hasUnderscores = first.contains('_') || second.contains('_');
    const std::vector<std::string> a = partsOfName(first, hasUnderscores);
    const std::vector<std::string> b = partsOfName(second, hasUnderscores);
    const std::size_t shorter = std::min(a.size(), b.size());
    std::size_t front = 0;
    while (front + 1 < shorter && a[front] == b[front])
        ++front;
    std::size_t back = 0;
    while (front + back + 1 < shorter && a[a.size() - 1 - back] == b[b.size() - 1 - back])
        ++back;
    std::vector<std::string> words(a.begin(), a.end() - static_cast<std::ptrdiff_t>(back));
    words.insert(words.end(), b.begin() + static_cast<std::ptrdiff_t>(front), b.end());
    std::string joined;
    for (std::string& word : words) {
        if (hasUnderscores && !joined.empty())
            joined += "_";
        else if (!joined.empty())
            word.front() =
                static_cast<char>(std::toupper(static_cast<unsigned char>(word.front())));
        joined += word;
    }
    return joined;
}

class NameChooser {
public:
    NameChooser(const SkillContext& context, const LaunchPair& pair)
        : context_(context), pair_(pair), host_(context.shared().host(pair.host)),
          first_(*pair.producer), second_(*pair.consumer), firstCode_(first_.body),
          secondCode_(second_.body) {}

    Gated<FusedNames> choose() {
        names_.kernel = freeName(nameOfBoth(first_.name, second_.name));
        KERNELSKILL_CHECK(mergeParameters());
        repeatDeclarations();
        KERNELSKILL_CHECK(renameOthers());
        KERNELSKILL_CHECK(requireRenamable());
        return names_;
    }

private:
    [[nodiscard]] std::string freeName(const std::string& wanted) const {
        std::string name = wanted;
        for (int number = 2; !occurrences(context_.file.source->text(), name).empty(); ++number)
            name = wanted + std::to_string(number);
        return name;
    }

    /// The type without const and __restrict__.
    [[nodiscard]] static std::string plainType(const Type& type) {
        std::string plain;
        for (const Token& token : lex(type.canonical))
            if (token.text != "const" && !token.text.contains("restrict"))
                plain.append(token.text).append(" ");
        return plain;
    }

    /// Returns the place of the producer's parameter that can be the consumer's at `place` as well.
    [[nodiscard]] std::optional<std::size_t> partnerOf(std::size_t place) const {
        const ExprId argument = pair_.second->arguments.at(place);
        const Parameter& own = second_.parameters[place];
        std::optional<std::size_t> found;
        for (std::size_t i = 0; i < first_.parameters.size() && i < pair_.first->arguments.size();
             ++i) {
            const Parameter& other = first_.parameters[i];
            const bool isSame = host_.sameExpression(pair_.first->arguments[i], argument) &&
                                plainType(other.type) == plainType(own.type) &&
                                !firstCode_.isEverWritten(other.variable) &&
                                !secondCode_.isEverWritten(own.variable) && !isTaken(i);
            if (isSame && (!found || other.name == own.name))
                found = i;
        }
        return found;
    }

    /// Whether another parameter of the consumer is merged with the producer's at `place`.
    [[nodiscard]] bool isTaken(std::size_t place) const {
        return std::ranges::find(merged_, place, &std::pair<std::size_t, std::size_t>::second) !=
               merged_.end();
    }

    Gated<void> mergeParameters() {
        if (pair_.first->arguments.size() != first_.parameters.size() ||
            pair_.second->arguments.size() != second_.parameters.size())
            return refuse("default-argument", "a launch leaves out an argument of its kernel");
        for (const Parameter& parameter : first_.parameters)
            if (context_.file.source->slice(parameter.span).contains('='))
                return refuse("default-argument",
                              fmt::format("{} has a default argument for {}, behind which others "
                                          "would come",
                                          first_.name, parameter.name));
        for (std::size_t i = 0; i < second_.parameters.size(); ++i) {
            const Parameter& own = second_.parameters[i];
            const auto partner = partnerOf(i);
            if (!partner) {
                KERNELSKILL_CHECK(requireOwnMemory(i));
                names_.added.push_back({i, own.name});
                continue;
            }
            merged_.emplace_back(i, *partner);
            const Parameter& other = first_.parameters[*partner];
            if (other.name != own.name)
                names_.renamed[own.name] = other.name;
            if (other.type.pointeeConst && !own.type.pointeeConst)
                names_.widened[*partner] = i;
        }
        return {};
    }

    /// Refuses if the argument at `place` is a pointer that the producer takes as well: under two
    /// names, neither the compiler nor the review would know that the memory is the same.
    Gated<void> requireOwnMemory(std::size_t place) const {
        const Parameter& own = second_.parameters[place];
        for (std::size_t i = 0; i < first_.parameters.size(); ++i)
            if (own.type.pointerDepth > 0 && first_.parameters[i].type.pointerDepth > 0 &&
                host_.sameExpression(pair_.first->arguments[i], pair_.second->arguments[place]))
                return refuse(
                    "pointer-not-merged",
                    fmt::format("{} and {} are one pointer, and one parameter cannot take "
                                "the place of both",
                                first_.parameters[i].name, own.name));
        return {};
    }

    [[nodiscard]] std::string_view textOf(const KernelModel& kernel, ExprId id) const {
        return context_.file.source->slice(kernel.body.expr(id).span);
    }

    /// Whether the statement is `int i = ...;` with a value that never changes.
    [[nodiscard]] static bool isFixedLocal(const CodeMap& code, StmtId id) {
        const Stmt& stmt = code.body().stmt(id);
        if (stmt.kind != StmtKind::Declaration || stmt.fromMacro || stmt.declared.size() != 1)
            return false;
        const Variable& variable = code.body().variable(stmt.declared.front());
        if (variable.storage != Storage::Local || variable.init == noId ||
            variable.type.isReference || !variable.type.arrayExtents.empty() ||
            code.isEverWritten(stmt.declared.front()))
            return false;
        return isFixedValue(code, variable.init);
    }

    /// Finds the declarations of the consumer that are the same in the producer, such as its index.
    void repeatDeclarations() {
        for (const StmtId id : second_.body.stmt(second_.body.root).children) {
            if (second_.body.stmt(id).kind != StmtKind::Declaration)
                break;
            if (!isFixedLocal(secondCode_, id))
                continue;
            const Variable& own = second_.body.variable(second_.body.stmt(id).declared.front());
            for (const StmtId other : first_.body.stmt(first_.body.root).children) {
                if (first_.body.stmt(other).kind != StmtKind::Declaration)
                    break; // Behind an early exit it would be out of sight.
                if (!isFixedLocal(firstCode_, other))
                    continue;
                const Variable& known =
                    first_.body.variable(first_.body.stmt(other).declared.front());
                if (known.type.canonical != own.type.canonical ||
                    tokensOf(textOf(first_, known.init)) !=
                        tokensOf(textOf(second_, own.init), names_.renamed))
                    continue;
                if (known.name != own.name)
                    names_.renamed[own.name] = known.name;
                names_.repeated.insert(id);
                kept_.insert(own.name);
                break;
            }
        }
    }

    [[nodiscard]] static bool isOfKernel(const Variable& variable) {
        return variable.storage != Storage::DeviceGlobal && variable.storage != Storage::Constant &&
               variable.storage != Storage::HostGlobal;
    }

    [[nodiscard]] static std::set<std::string> ownNames(const KernelModel& kernel) {
        std::set<std::string> names;
        for (const Variable& variable : kernel.body.variables)
            if (isOfKernel(variable))
                names.insert(variable.name);
        return names;
    }

    /// Gives other names to the consumer's variables where theirs mean something else.
    Gated<void> renameOthers() {
        const std::set<std::string> ofFirst = ownNames(first_);
        for (const Expr& expr : second_.body.exprs)
            if (expr.kind == ExprKind::Call && !expr.isMethod && ofFirst.contains(expr.name))
                return refuse("name-clash", fmt::format("{} is a variable of {}, and a function in "
                                                        "{}",
                                                        expr.name, first_.name, second_.name));
        std::set<std::string> targets;
        for (const auto& [from, to] : names_.renamed)
            targets.insert(to);
        for (const auto& [place, partner] : merged_)
            kept_.insert(second_.parameters[place].name);
        for (VariableId id = 0; id < second_.body.variables.size(); ++id) {
            const Variable& variable = second_.body.variable(id);
            if (!isOfKernel(variable)) {
                if (ofFirst.contains(variable.name))
                    return refuse("name-clash",
                                  fmt::format("{} is a variable of {}, and another one in {}",
                                              variable.name, first_.name, second_.name));
                continue;
            }
            const bool isNested = variable.storage == Storage::Local &&
                                  secondCode_.declarationOf(id) != noId && !isInScope(id);
            const bool clashes =
                targets.contains(variable.name) || (!isNested && ofFirst.contains(variable.name));
            if (kept_.contains(variable.name) || names_.renamed.contains(variable.name) || !clashes)
                continue;
            names_.renamed[variable.name] = newName(variable.name, ofFirst);
        }
        for (AddedParameter& added : names_.added)
            if (const auto renamed = names_.renamed.find(added.name);
                renamed != names_.renamed.end())
                added.name = renamed->second;
        return {};
    }

    /// Whether the variable is declared in the outermost block, or in an `if` directly in it: the
    /// fused kernel may have a variable of the producer in the same block.
    [[nodiscard]] bool isInScope(VariableId id) const {
        const StmtId block = second_.body.stmt(secondCode_.declarationOf(id)).parent;
        if (block == second_.body.root || block == noId)
            return true;
        const StmtId around = second_.body.stmt(block).parent;
        return second_.body.stmt(block).kind == StmtKind::Compound && around != noId &&
               second_.body.stmt(around).kind == StmtKind::If &&
               second_.body.stmt(around).parent == second_.body.root;
    }

    [[nodiscard]] std::string newName(const std::string& wanted,
                                      const std::set<std::string>& ofFirst) const {
        for (int number = 2;; ++number) {
            std::string name = wanted + std::to_string(number);
            const bool isUsed = std::ranges::any_of(
                names_.renamed, [&](const auto& renamed) { return renamed.second == name; });
            if (!ofFirst.contains(name) && isNameFree(second_.body, name) &&
                isNameFree(first_.body, name) && !isUsed)
                return name;
        }
    }

    /// Refuses if a renamed variable is used in the definition of a macro.
    Gated<void> requireRenamable() const {
        for (const Expr& expr : second_.body.exprs) {
            if (expr.kind != ExprKind::Variable || expr.variable == noId || !expr.fromMacro ||
                !names_.renamed.contains(second_.body.variable(expr.variable).name))
                continue;
            const std::string& name = second_.body.variable(expr.variable).name;
            if (occurrences(context_.file.source->slice(expr.span), name).empty())
                return refuse("name-in-macro",
                              fmt::format("a macro on line {} names {}, which {} calls otherwise",
                                          lineNumber(context_, expr.span.begin), name,
                                          first_.name));
        }
        return {};
    }

    const SkillContext& context_;
    const LaunchPair& pair_;
    const CodeMap& host_;
    const KernelModel& first_;
    const KernelModel& second_;
    CodeMap firstCode_;
    CodeMap secondCode_;
    std::vector<std::pair<std::size_t, std::size_t>> merged_;
    std::set<std::string> kept_; ///< Names of the consumer that mean the producer's variables.
    FusedNames names_;
};

} // namespace

Gated<FusedNames> fusedNames(const SkillContext& context, const LaunchPair& pair) {
    return NameChooser(context, pair).choose();
}

} // namespace kernelskill::skills
