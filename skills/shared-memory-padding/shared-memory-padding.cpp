/// Pads the rows of a shared array so that a warp's lanes spread over the banks.
#include "analysis/queries/launch_extents.h"
#include "analysis/syntax/lexer.h"
#include "skills/base/planned_skill.h"
#include "skills/gates/launch_sites.h"
#include "skills/shared-memory-padding/bank_simulation.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The shared memory that a block may declare statically on every architecture.
constexpr std::uint64_t staticSharedLimit = std::uint64_t{48} * 1024;
/// Pads beyond one warp's worth of elements only repeat smaller ones.
constexpr std::int64_t maxPad = 32;
/// Below this a pad saves less than it costs to read.
constexpr double minGain = 0.25;

/// `tile[y][x]` with one subscript per dimension.
struct ArrayAccess {
    ExprId outermost = noId; ///< The subscript that gives an element.
    std::vector<ExprId> subscripts;
};

struct Padding {
    std::int64_t pad = 0;
    double before = 0; ///< Conflict degree of the worst access.
    double after = 0;  ///< The degree of the same access once padded.
    ExprId worst = noId;
};

class ArrayStudy {
public:
    ArrayStudy(const SkillContext& context, const CodeMap& code, VariableId array)
        : context_(context), code_(code), array_(array), variable_(code.body().variable(array)) {}

    Gated<Padding> study() {
        KERNELSKILL_CHECK(requirePaddableShape());
        KERNELSKILL_CHECK(collectAccesses());
        KERNELSKILL_CHECK(requireNoOtherMention());
        const std::vector<Extents> blocks = assumedBlocks();
        for (const Extents& block : blocks)
            KERNELSKILL_CHECK(requireSubscriptsInRow(block));
        return choosePad(blocks.front());
    }

    /// True if the cursor is on the declaration or on a use.
    [[nodiscard]] bool isAtCursor() const {
        return context_.isCursorAt(variable_.span) ||
               std::ranges::any_of(code_.uses(array_), [&](ExprId use) {
                   ExprId at = use;
                   while (code_.parent(at) != noId &&
                          code_.body().expr(code_.parent(at)).kind == ExprKind::Subscript &&
                          code_.body().expr(code_.parent(at)).children[0] == at)
                       at = code_.parent(at);
                   return context_.isCursorAt(code_.body().expr(at).span);
               });
    }

    /// Where the last extent is written, brackets excluded.
    [[nodiscard]] std::optional<Span> lastExtent() const {
        const std::string& text = context_.file.source->text();
        const std::vector<Token> tokens = lex(text, variable_.span);
        if (tokens.empty() || tokens[0].text != variable_.name)
            return std::nullopt;
        std::optional<Span> last;
        std::size_t dimensions = 0;
        for (std::size_t i = 1; i < tokens.size();) {
            const std::size_t close = matchingBracket(tokens, i);
            if (tokens[i].text != "[" || close >= tokens.size())
                return std::nullopt;
            last = Span{tokens[i].span.end, tokens[close].span.begin};
            ++dimensions;
            i = close + 1;
        }
        return dimensions == variable_.type.arrayExtents.size() ? last : std::nullopt;
    }

private:
    [[nodiscard]] std::uint32_t declarationLine() const {
        return lineNumber(context_, variable_.span.begin);
    }

    [[nodiscard]] std::uint64_t bytesWith(std::int64_t pad) const {
        std::uint64_t elements = 1;
        for (std::size_t i = 0; i < variable_.type.arrayExtents.size(); ++i) {
            const bool isLast = i + 1 == variable_.type.arrayExtents.size();
            elements *=
                static_cast<std::uint64_t>(variable_.type.arrayExtents[i] + (isLast ? pad : 0));
        }
        return elements * variable_.type.elementSize;
    }

    [[nodiscard]] Gated<void> requirePaddableShape() const {
        const Type& type = variable_.type;
        const std::string& name = variable_.name;
        if (variable_.storage != Storage::Shared)
            return refuse("dynamic-shared-array",
                          fmt::format("{} is sized by the launch, so it has no rows to pad", name));
        if (type.arrayExtents.size() < 2)
            return refuse("one-dimensional",
                          fmt::format("{} on line {} has no rows to pad", name, declarationLine()));
        if (type.elementSize == 0 ||
            std::ranges::any_of(type.arrayExtents, [](std::int64_t extent) { return extent <= 0; }))
            return refuse("unknown-extent", fmt::format("the extents of {} on line {} depend on a "
                                                        "template argument",
                                                        name, declarationLine()));
        if (!lastExtent())
            return refuse("from-macro",
                          fmt::format("the declaration of {} on line {} comes out of a "
                                      "macro",
                                      name, declarationLine()));
        return {};
    }

    /// Every use must give all subscripts and read or write one element in place.
    Gated<void> collectAccesses() {
        const FunctionBody& body = code_.body();
        const std::size_t dimensions = variable_.type.arrayExtents.size();
        for (const ExprId use : code_.uses(array_)) {
            ArrayAccess access;
            access.outermost = use;
            const std::uint32_t line = lineNumber(context_, body.expr(use).span.begin);
            for (ExprId parent = code_.parent(use);
                 parent != noId && body.expr(parent).kind == ExprKind::Subscript &&
                 body.expr(parent).children[0] == access.outermost &&
                 access.subscripts.size() < dimensions;
                 parent = code_.parent(parent)) {
                access.subscripts.push_back(body.expr(parent).children[1]);
                access.outermost = parent;
            }
            if (access.subscripts.size() != dimensions)
                return refuse("used-as-pointer",
                              fmt::format("{} is used on line {} with fewer subscripts than it has "
                                          "dimensions",
                                          variable_.name, line));
            const ExprId parent = code_.parent(access.outermost);
            if (parent != noId && body.expr(parent).kind == ExprKind::Unary &&
                body.expr(parent).op == "&" && !isAtomicArgument(parent))
                return refuse("used-as-pointer",
                              fmt::format("the address of an element of {} is taken "
                                          "on line {}",
                                          variable_.name, line));
            accesses_.push_back(std::move(access));
        }
        return {};
    }

    [[nodiscard]] bool isAtomicArgument(ExprId address) const {
        const ExprId call = code_.parent(address);
        return call != noId && code_.body().expr(call).kind == ExprKind::Call &&
               code_.body().expr(call).name.starts_with("atomic");
    }

    /// sizeof, decltype, assembly and macros can name the array without the model seeing a use.
    [[nodiscard]] Gated<void> requireNoOtherMention() const {
        for (const Token& token : lex(context_.file.source->text(), context_.kernel.bodySpan)) {
            const bool isDirective =
                token.kind == TokenKind::Directive &&
                std::ranges::any_of(lex(token.text, {1, token.span.size()}),
                                    [&](const Token& word) { return word.text == variable_.name; });
            if (!isDirective &&
                (token.kind != TokenKind::Identifier || token.text != variable_.name))
                continue;
            const bool isKnown =
                variable_.span.begin == token.span.begin ||
                std::ranges::any_of(code_.uses(array_),
                                    [&](ExprId use) {
                                        const Expr& expr = code_.body().expr(use);
                                        return expr.span.begin == token.span.begin ||
                                               (expr.fromMacro && expr.span.contains(token.span));
                                    }) ||
                std::ranges::any_of(code_.body().variables, [&](const Variable& other) {
                    return &other != &variable_ && other.name == variable_.name;
                });
            if (!isKnown)
                return refuse("used-elsewhere",
                              fmt::format("line {} names {} other than by subscripts",
                                          lineNumber(context_, token.span.begin), variable_.name));
        }
        return {};
    }

    /// The launches' blocks, or the block that the subscripts suggest.
    [[nodiscard]] std::vector<Extents> assumedBlocks() const {
        if (const auto launched = launchedBlocks(context_))
            return *launched;
        std::int64_t width = warpSize;
        for (const ArrayAccess& access : accesses_)
            for (std::size_t i = 0; i < access.subscripts.size(); ++i) {
                const Expr& subscript = code_.body().expr(code_.withoutCasts(access.subscripts[i]));
                const ExprId init =
                    subscript.kind == ExprKind::Variable && subscript.variable != noId
                        ? code_.body().variable(subscript.variable).init
                        : noId;
                const Expr& source = init != noId && !code_.isEverWritten(subscript.variable)
                                         ? code_.body().expr(code_.withoutCasts(init))
                                         : subscript;
                if (source.kind == ExprKind::BuiltinIndex && source.name == "threadIdx" &&
                    source.axis == 0)
                    width = std::min(width, variable_.type.arrayExtents[i]);
            }
        return {Extents{width, std::max<std::int64_t>(1, warpSize / width), 1}};
    }

    /// `tile[0][k]` with k past the row's end walks the array as if it were flat; padding would
    /// break that.
    [[nodiscard]] Gated<void> requireSubscriptsInRow(const Extents& block) const {
        const LaneEvaluator evaluator(context_.kernel, code_, block);
        const std::int64_t threads = std::min<std::int64_t>(block[0] * block[1] * block[2], 1024);
        for (const ArrayAccess& access : accesses_) {
            for (std::size_t i = 0; i < access.subscripts.size(); ++i) {
                for (std::int64_t thread = 0; thread < threads; ++thread) {
                    const auto value = evaluator.value(access.subscripts[i], thread);
                    if (!value || (*value >= 0 && *value < variable_.type.arrayExtents[i]) ||
                        isGuarded(access.outermost))
                        continue;
                    return refuse(
                        "subscript-past-row",
                        fmt::format(
                            "a subscript of {} on line {} reaches {}, past its extent "
                            "of {}",
                            variable_.name,
                            lineNumber(context_, code_.body().expr(access.outermost).span.begin),
                            *value, variable_.type.arrayExtents[i]));
                }
            }
        }
        return {};
    }

    [[nodiscard]] bool isGuarded(ExprId expr) const {
        for (StmtId at = code_.statement(expr); at != noId; at = code_.body().stmt(at).parent)
            if (code_.body().stmt(at).kind == StmtKind::If)
                return true;
        return false;
    }

    /// Where one lane's element lies: `row` rows down and `column` along.
    struct Element {
        std::int64_t row = 0;
        std::int64_t column = 0;
    };

    /// The elements that the lanes of a warp touch, for each access in order; none for an access
    /// whose lanes are not known.
    [[nodiscard]] std::vector<std::vector<Element>> warpElements(const Extents& block) const {
        const LaneEvaluator evaluator(context_.kernel, code_, block);
        const std::int64_t lanes = std::min<std::int64_t>(warpSize, block[0] * block[1] * block[2]);
        std::vector<std::vector<Element>> result;
        for (const ArrayAccess& access : accesses_) {
            std::vector<Element>& elements = result.emplace_back();
            for (std::int64_t lane = 0; lane < lanes; ++lane) {
                auto element = elementOf(access, evaluator, lane);
                if (!element)
                    element = elementOf(access, block, lane);
                if (!element) {
                    elements.clear();
                    break;
                }
                elements.push_back(*element);
            }
        }
        return result;
    }

    [[nodiscard]] std::optional<Element>
    elementOf(const ArrayAccess& access, const LaneEvaluator& evaluator, std::int64_t lane) const {
        Element element;
        for (std::size_t i = 0; i < access.subscripts.size(); ++i) {
            const auto value = evaluator.value(access.subscripts[i], lane);
            if (!value)
                return std::nullopt;
            if (i + 1 == access.subscripts.size())
                element.column = *value;
            else
                element.row = element.row * variable_.type.arrayExtents[i] + *value;
        }
        return element;
    }

    /// The same by the kernel's nest.
    [[nodiscard]] std::optional<Element> elementOf(const ArrayAccess& access, const Extents& block,
                                                   std::int64_t lane) const {
        const Nest& nest = context_.shared().nest();
        const auto found = std::ranges::find_if(nest.accesses, [&](const NestAccess& candidate) {
            return candidate.frame == 0 && candidate.expression == access.outermost &&
                   candidate.subscripts.size() == access.subscripts.size();
        });
        if (found == nest.accesses.end() || found->form != NestAccessForm::Affine)
            return std::nullopt;
        Element element;
        for (std::size_t i = 0; i < found->subscripts.size(); ++i) {
            const auto value = laneValue(nest, found->subscripts[i].index, block, lane);
            if (!value)
                return std::nullopt;
            if (i + 1 == found->subscripts.size())
                element.column = *value;
            else
                element.row = element.row * variable_.type.arrayExtents[i] + *value;
        }
        return element;
    }

    /// Conflict degree of each access, in order, with rows that are `pad` elements longer.
    [[nodiscard]] std::vector<std::optional<double>>
    degrees(const std::vector<std::vector<Element>>& accesses, std::int64_t pad) const {
        const std::int64_t rowLength = variable_.type.arrayExtents.back() + pad;
        const auto width = static_cast<std::int64_t>(variable_.type.elementSize);
        std::vector<std::optional<double>> result;
        std::vector<std::int64_t> addresses;
        for (const std::vector<Element>& elements : accesses) {
            if (elements.empty()) {
                result.emplace_back();
                continue;
            }
            addresses.clear();
            for (const Element& element : elements)
                addresses.push_back((element.row * rowLength + element.column) * width);
            const std::int64_t lowest = std::ranges::min(addresses);
            // A shared unknown counts as 0; keep addresses positive for the bank arithmetic.
            constexpr std::int64_t allBanks = 128;
            if (lowest < 0)
                for (std::int64_t& address : addresses)
                    address += (-lowest / allBanks + 1) * allBanks;
            result.emplace_back(conflictDegree(addresses, variable_.type.elementSize));
        }
        return result;
    }

    [[nodiscard]] Gated<Padding> choosePad(const Extents& block) const {
        const auto elements = warpElements(block);
        const auto unpadded = degrees(elements, 0);
        Padding best;
        double bestSum = 0;
        bool anyKnown = false;
        std::size_t worst = 0;
        for (std::size_t i = 0; i < unpadded.size(); ++i) {
            if (!unpadded[i])
                continue;
            anyKnown = true;
            bestSum += *unpadded[i];
            if (*unpadded[i] > best.before) {
                best.before = *unpadded[i];
                worst = i;
            }
        }
        if (!anyKnown)
            return refuse("unknown-lanes",
                          fmt::format("which elements of {} the lanes of a warp touch is "
                                      "not known",
                                      variable_.name));
        if (best.before <= 1)
            return refuse("no-bank-conflict",
                          fmt::format("no access to {} has bank conflicts", variable_.name));
        best.worst = accesses_[worst].outermost;
        for (std::int64_t pad = 1; pad <= maxPad; ++pad) {
            const auto padded = degrees(elements, pad);
            double sum = 0;
            double highest = 0;
            for (std::size_t i = 0; i < padded.size(); ++i) {
                sum += padded[i].value_or(0);
                highest = std::max(highest, padded[i].value_or(0));
            }
            if (sum > bestSum - minGain || highest > best.before)
                continue;
            bestSum = sum;
            best.pad = pad;
            best.after = *padded[worst];
        }
        if (best.pad == 0)
            return refuse(
                "padding-does-not-help",
                fmt::format("the {:.0f}-way conflict on line {} stays with any row length",
                            best.before,
                            lineNumber(context_, code_.body().expr(best.worst).span.begin)));
        std::uint64_t total = bytesWith(best.pad);
        for (const SharedArray& other : context_.kernel.sharedArrays)
            if (other.variable != array_)
                total += other.bytes;
        if (total > staticSharedLimit)
            return refuse(
                "exceeds-shared-memory",
                fmt::format("with {} padded the block would need {} bytes of static shared "
                            "memory; {} is the limit",
                            variable_.name, total, staticSharedLimit));
        return best;
    }

    const SkillContext& context_;
    const CodeMap& code_;
    VariableId array_;
    const Variable& variable_;
    std::vector<ArrayAccess> accesses_;
};

/// How many elements a row gets more.
enum class Pad : int {};

struct Choice {
    VariableId array = noId;
    Padding padding;
};

/// The array at the cursor, else the one whose padding saves most.
Gated<Choice> choose(const SkillContext& context, const CodeMap& code) {
    KERNELSKILL_CHECK(requireEditable(context));
    std::optional<Choice> best;
    std::optional<Refusal> firstRefusal;
    for (const SharedArray& shared : context.kernel.sharedArrays) {
        ArrayStudy study(context, code, shared.variable);
        const auto padding = study.study();
        if (study.isAtCursor()) {
            if (!padding)
                return std::unexpected(padding.error());
            return Choice{shared.variable, *padding};
        }
        if (!padding && !firstRefusal)
            firstRefusal = padding.error();
        if (padding && (!best || padding->before > best->padding.before))
            best = Choice{shared.variable, *padding};
    }
    if (best)
        return *best;
    if (firstRefusal)
        return std::unexpected(*firstRefusal);
    for (const NestArray& array : context.shared().nest().arrays)
        if (array.space == MemorySpace::Shared && array.frame != 0)
            return refuse(
                "no-shared-array",
                fmt::format("{} declares no shared array itself: {} belongs to a function "
                            "that it calls",
                            context.kernel.name, array.name));
    return refuse("no-shared-array",
                  fmt::format("{} declares no shared array", context.kernel.name));
}

class SharedMemoryPaddingSkill : public PlannedSkill<Choice, Pad> {
    Gated<Choice> plan(const SkillContext& context) const override {
        return choose(context, context.code());
    }

    Gated<Offer> offer(const SkillContext& context, const Choice& choice) const override {
        const Variable& array = context.kernel.body.variable(choice.array);
        const Span worst = context.kernel.body.expr(choice.padding.worst).span;
        Offer offer = newOffer(context, array.span, Pad{static_cast<int>(choice.padding.pad)});
        offer.title =
            fmt::format("Pad the rows of shared array {} by {}", array.name, choice.padding.pad);
        offer.why =
            fmt::format("{} on line {} needs {:.3g} wavefronts a request; with rows of {} "
                        "elements it needs {:.3g}",
                        context.file.source->slice(worst), lineNumber(context, worst.begin),
                        choice.padding.before, array.type.arrayExtents.back() + choice.padding.pad,
                        choice.padding.after);
        return offer;
    }

    GatedEdits edits(const SkillContext& context, const Choice& choice) const override {
        const Span extent = *ArrayStudy(context, context.code(), choice.array).lastExtent();
        const std::vector<Token> tokens = lex(context.file.source->text(), extent);
        const bool bindsTighter = std::ranges::all_of(tokens, [](const Token& token) {
            return token.kind != TokenKind::Punctuator || token.text == "*" || token.text == "+" ||
                   token.text == "-" || token.text == "/" || token.text == "::";
        });
        std::vector<TextEdit> edits;
        const std::uint32_t begin = tokens.front().span.begin;
        const std::uint32_t end = tokens.back().span.end;
        if (!bindsTighter)
            edits.push_back({{begin, begin}, "("});
        edits.push_back(
            {{end, end}, fmt::format("{} + {}", bindsTighter ? "" : ")", choice.padding.pad)});
        return edits;
    }
};

} // namespace

KERNELSKILL_SKILL(SharedMemoryPaddingSkill)

} // namespace kernelskill::skills
