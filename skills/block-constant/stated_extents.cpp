#include "skills/block-constant/stated_extents.h"

#include "analysis/queries/launch_extents.h"
#include "analysis/scan/macros.h"
#include "analysis/source/decimal.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/launch_sites.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace kernelskill::skills {

using namespace analysis;

namespace {

using Constants = std::array<std::optional<StatedExtent>, 3>;

/// Finds the definitions of names in the text of a file.
class Definitions {
public:
    explicit Definitions(const SkillContext& context)
        : tokens_(context.shared().tokens()), text_(context.file.source->text()) {}

    /// The number that defines `name`; nullopt if there are several definitions or another kind.
    [[nodiscard]] std::optional<Span> numberOf(std::string_view name) const {
        std::vector<Span> found = macros(name);
        const std::vector<Span> constants = fileConstants(name);
        found.insert(found.end(), constants.begin(), constants.end());
        return found.size() == 1 && !found.front().empty() ? std::optional(found.front())
                                                           : std::nullopt;
    }

private:
    /// An empty span for a macro that is no number.
    [[nodiscard]] std::vector<Span> macros(std::string_view name) const {
        std::vector<Span> found;
        for (const Token& token : tokens_) {
            if (token.kind != TokenKind::Directive)
                continue;
            const auto [word, remainder] = directiveParts(token.text);
            const std::vector<Token> parts = lex(remainder);
            if (word != "define" || parts.empty() || parts[0].text != name)
                continue;
            const auto at =
                static_cast<std::uint32_t>(token.span.begin + token.text.find(remainder));
            const bool isNumber = parts.size() == 2 && decimalIn(parts[1].text);
            found.push_back(isNumber ? Span{at + parts[1].span.begin, at + parts[1].span.end}
                                     : Span{});
        }
        return found;
    }

    /// `const int name = 256;`, `constexpr auto name = 256;`
    [[nodiscard]] std::vector<Span> fileConstants(std::string_view name) const {
        std::vector<Span> found;
        for (std::size_t i = 1; i + 3 < tokens_.size(); ++i) {
            const bool isDefinition = tokens_[i].text == name && tokens_[i + 1].is("=") &&
                                      decimalIn(tokens_[i + 2].text) && tokens_[i + 3].is(";");
            if (!isDefinition)
                continue;
            std::size_t first = i;
            while (first > 0 && tokens_[first - 1].kind != TokenKind::Directive &&
                   !tokens_[first - 1].is(";") && !tokens_[first - 1].is("{") &&
                   !tokens_[first - 1].is("}"))
                --first;
            const auto begin = tokens_.begin() + static_cast<std::ptrdiff_t>(first);
            const auto end = tokens_.begin() + static_cast<std::ptrdiff_t>(i);
            if (std::any_of(begin, end, [](const Token& token) {
                    return token.text == "const" || token.text == "constexpr";
                }))
                found.push_back(tokens_[i + 2].span);
        }
        return found;
    }

    const std::vector<Token>& tokens_;
    std::string_view text_;
};

/// The constants that state the block of one launch.
class LaunchReader {
public:
    LaunchReader(const SkillContext& context, const LaunchSite& launch)
        : context_(context), host_(context.shared().host(launch.host)) {
        read(launch.block);
    }
    [[nodiscard]] const Constants& constants() const { return constants_; }

private:
    [[nodiscard]] const Expr& expr(ExprId id) const { return host_.body().expr(id); }

    void read(ExprId block) {
        block = host_.withoutCasts(block);
        if (isDim3Name(expr(block))) {
            const VariableId variable = expr(block).variable;
            if (variable == noId || host_.isEverWritten(variable) ||
                host_.body().variable(variable).init == noId)
                return;
            block = host_.withoutCasts(host_.body().variable(variable).init);
        }
        if (expr(block).kind != ExprKind::InitList)
            return take(block, 0);
        const std::vector<ExprId>& extents = expr(block).children;
        for (std::size_t axis = 0; axis < std::min<std::size_t>(extents.size(), 3); ++axis)
            take(extents[axis], static_cast<int>(axis));
    }

    void take(ExprId extent, int axis) {
        const Expr& leaf = expr(host_.withoutCasts(extent));
        std::string name;
        std::optional<Span> literal;
        const bool isLocal = leaf.kind == ExprKind::Variable && leaf.variable != noId &&
                             host_.body().variable(leaf.variable).storage == Storage::Local;
        if (isLocal) {
            name = host_.body().variable(leaf.variable).name;
            const ExprId set = FixedValues(host_).fixedValue(leaf.variable);
            if (set == noId)
                return;
            const Expr& value = expr(host_.withoutCasts(set));
            if (value.kind == ExprKind::Integer && !value.fromMacro)
                literal = value.span;
            else if (value.kind == ExprKind::Integer || value.kind == ExprKind::Variable)
                literal = namedNumber(value, name);
            if (!literal && value.kind == ExprKind::Integer && isUnnamedByKernel(value)) {
                constants_[static_cast<std::size_t>(axis)] = StatedExtent{
                    host_.body().variable(leaf.variable).name, value.span, value.integer, axis};
                return;
            }
        } else if (leaf.kind == ExprKind::Variable || leaf.kind == ExprKind::Integer) {
            literal = namedNumber(leaf, name);
        }
        if (!literal)
            return;
        const auto value = decimalIn(context_.file.source->slice(*literal));
        if (value)
            constants_[static_cast<std::size_t>(axis)] = StatedExtent{name, *literal, *value, axis};
    }

    /// Of a macro or a constant at file scope, by its use.
    [[nodiscard]] std::optional<Span> namedNumber(const Expr& use, std::string& name) const {
        name = context_.file.source->slice(use.span);
        const bool isName =
            !name.empty() &&
            (std::isalpha(static_cast<unsigned char>(name[0])) != 0 || name[0] == '_');
        return isName ? Definitions(context_).numberOf(name) : std::nullopt;
    }

    /// Whether a number is written as one name, which is not among the kernel's: then the local
    /// that is set to it can be set to another.
    [[nodiscard]] bool isUnnamedByKernel(const Expr& number) const {
        const std::vector<Token> written = lex(context_.file.source->slice(number.span));
        return written.size() == 1 && written.front().kind == TokenKind::Identifier &&
               std::ranges::none_of(context_.shared().tokens(), [&](const Token& token) {
                   return token.text == written.front().text &&
                          context_.kernel.span.contains(token.span);
               });
    }

    const SkillContext& context_;
    const CodeMap& host_;
    Constants constants_;
};

bool isWrittenHere(const SkillContext& context, const LaunchSite& launch) {
    return isInMainFile(context.file, launch) && launch.block != noId && !launch.fromMacro;
}

/// Another kernel whose code names the constant, or whose launch is stated by it.
const KernelModel* otherUser(const SkillContext& context, const StatedExtent& constant) {
    for (const KernelModel& other : context.file.kernels) {
        if (&other == &context.kernel || other.file != context.file.file)
            continue;
        const bool isNamed =
            std::ranges::any_of(context.shared().tokens(), [&](const Token& token) {
                return token.text == constant.name && other.span.contains(token.span);
            });
        if (isNamed)
            return &other;
        for (const LaunchSite& launch : other.launches) {
            if (!isWrittenHere(context, launch))
                continue;
            for (const auto& extent : LaunchReader(context, launch).constants())
                if (extent && extent->literal == constant.literal)
                    return &other;
        }
    }
    return nullptr;
}

} // namespace

Gated<std::vector<StatedExtent>> statedExtents(const SkillContext& context) {
    KERNELSKILL_CHECK(launchedBlocks(context));
    std::optional<Constants> common;
    for (const LaunchSite& launch : context.kernel.launches) {
        if (!isWrittenHere(context, launch))
            return refuse("launch-in-other-file",
                          fmt::format("{} is launched on {}, outside of this file or by a macro",
                                      context.kernel.name, placeOf(context, launch)));
        const Constants constants = LaunchReader(context, launch).constants();
        if (!common)
            common = constants;
        for (std::size_t axis = 0; axis < constants.size(); ++axis) {
            auto& known = (*common)[axis];
            if (known && (!constants[axis] || constants[axis]->literal != known->literal))
                known.reset();
        }
    }
    std::vector<StatedExtent> extents;
    for (const auto& extent : *common) {
        if (!extent)
            continue;
        const auto same = std::ranges::find(extents, extent->literal, &StatedExtent::literal);
        if (same == extents.end())
            extents.push_back(*extent);
        else
            ++same->axes;
    }
    if (extents.empty())
        return refuse("no-block-constant",
                      fmt::format("no named number in this file states the block of {}",
                                  context.kernel.name));
    for (const StatedExtent& extent : extents)
        if (const KernelModel* other = otherUser(context, extent))
            return refuse("shared-constant",
                          fmt::format("{} depends on {}, too", other->name, extent.name));
    return extents;
}

} // namespace kernelskill::skills
