/// Carries the quotient and remainder of a loop's index from round to round instead of dividing.
#include "analysis/queries/source_layout.h"
#include "analysis/queries/value_spelling.h"
#include "analysis/syntax/lexer.h"
#include "skills/address-strength-reduction/carried_divisions.h"
#include "skills/base/planned_skill.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/operand_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Instructions of a division by a number that the compiler does not know (CUDA C++ Programming
/// Guide: up to 20 with 32 bits, a call of some 70 with 64), and of carrying its results.
constexpr double narrowDivision = 20;
constexpr double wideDivision = 70;
constexpr double carrying = 5;

bool isWide(const CarriedDivision& division) {
    return division.type.scalar == ScalarKind::Int64 || division.type.scalar == ScalarKind::UInt64;
}

class Writer {
public:
    Writer(const SkillContext& context, const CodeMap& code, const CarriedLoop& carried)
        : body_(code.body()), source_(*context.file.source), layout_(source_, context.kernel),
          carried_(carried), loop_(context.kernel.loops[carried.counted.loop]),
          stmt_(body_.stmt(loop_.statement)) {
        for (const CarriedDivision& division : carried_.divisions)
            names_.push_back({division.quotients.empty() ? "" : unused("quotient"),
                              unused("remainder"),
                              division.quotients.empty() ? "" : unused("quotientStep"),
                              unused("remainderStep")});
    }

    std::vector<TextEdit> edits() {
        std::vector<TextEdit> edits;
        const Span pragma = stmt_.pragma.empty() ? stmt_.span : stmt_.pragmaSpan;
        const std::uint32_t at = layout_.lineBegin(pragma.begin);
        edits.push_back({{at, at}, before()});
        for (std::size_t i = 0; i < names_.size(); ++i) {
            for (const ExprId quotient : carried_.divisions[i].quotients)
                edits.push_back({body_.expr(quotient).span, names_[i].quotient});
            for (const ExprId remainder : carried_.divisions[i].remainders)
                edits.push_back({body_.expr(remainder).span, names_[i].remainder});
        }
        const Stmt& body = body_.stmt(loop_.body);
        const std::string inner = layout_.indentation(stmt_.span.begin) + layout_.unit();
        if (body.kind == StmtKind::Compound) {
            const std::uint32_t end = layout_.lineBegin(body.span.end - 1);
            edits.push_back({{end, end}, after(inner)});
        } else {
            const std::uint32_t head =
                lex(source_.text(), {stmt_.span.begin, body.span.begin}).back().span.end;
            edits.push_back({{head, head}, " {"});
            const std::uint32_t end = layout_.endOfLineTrivia(stmt_.span.end);
            std::string text = layout_.newline() + after(inner);
            edits.push_back({{end, end}, text + layout_.indentation(stmt_.span.begin) + "}"});
        }
        return edits;
    }

private:
    struct Names {
        std::string quotient; ///< Empty: not asked for.
        std::string remainder;
        std::string quotientStep;
        std::string remainderStep;
    };

    /// The text before the loop: the first round's results, and what a round adds to them.
    std::string before() {
        CodeLines lines(layout_, layout_.indentation(stmt_.span.begin));
        std::string divided;
        for (const CarriedDivision& division : carried_.divisions)
            divided += fmt::format("{}{}", divided.empty() ? "" : " and ", text(division.divisor));
        lines.add(
            fmt::format("// {} divided by {}, carried from round to round.", index(), divided));
        const std::string start = named(lines, carried_.counted.start, "first");
        if (carried_.counted.step != noId)
            step_ = named(lines, carried_.counted.step, "step");
        for (std::size_t i = 0; i < names_.size(); ++i) {
            const CarriedDivision& division = carried_.divisions[i];
            const std::string type = valueSpelling(division.type);
            const std::string divisor = operand(division.divisor);
            const auto define = [&](const std::string& qualifier, const std::string& name,
                                    const std::string& value, std::string_view op) {
                if (!name.empty())
                    lines.add(value == "0" ? fmt::format("{}{} {} = 0;", qualifier, type, name)
                                           : fmt::format("{}{} {} = {} {} {};", qualifier, type,
                                                         name, value, op, divisor));
            };
            define("", names_[i].quotient, start, "/");
            define("", names_[i].remainder, start, "%");
            if (!step_.empty()) {
                define("const ", names_[i].quotientStep, step_, "/");
                define("const ", names_[i].remainderStep, step_, "%");
            }
        }
        return lines.text();
    }

    /// The text at the end of each round.
    [[nodiscard]] std::string after(const std::string& indentation) const {
        CodeLines lines(layout_, indentation);
        for (std::size_t i = 0; i < names_.size(); ++i) {
            const Names& names = names_[i];
            const std::string divisor = text(carried_.divisions[i].divisor);
            if (step_.empty()) {
                lines.open(fmt::format("if (++{} == {}) {{", names.remainder,
                                       operand(carried_.divisions[i].divisor)));
                lines.add(fmt::format("{} = 0;", names.remainder));
            } else {
                lines.add(fmt::format("{} += {};", names.remainder, names.remainderStep));
                if (!names.quotient.empty())
                    lines.add(fmt::format("{} += {};", names.quotient, names.quotientStep));
                lines.open(fmt::format("if ({} >= {}) {{", names.remainder,
                                       operand(carried_.divisions[i].divisor)));
                lines.add(fmt::format("{} -= {};", names.remainder, divisor));
            }
            if (!names.quotient.empty())
                lines.add(fmt::format("++{};", names.quotient));
            lines.close();
        }
        return lines.text();
    }

    /// A literal or a name as it is; the value of anything else under a name of its own, as a value
    /// of the index's type.
    std::string named(CodeLines& lines, ExprId expr, const std::string& wanted) {
        const Expr& value = body_.expr(expr);
        if (value.kind == ExprKind::Integer || value.kind == ExprKind::Variable)
            return text(expr);
        const std::string name = unused(wanted);
        lines.add(fmt::format("const {} {} = {};",
                              valueSpelling(body_.variable(loop_.inductionVariable).type), name,
                              text(expr)));
        return name;
    }

    [[nodiscard]] std::string unused(const std::string& wanted) {
        std::string name = freshName(body_, wanted);
        for (int number = 2; std::ranges::find(taken_, name) != taken_.end(); ++number)
            name = freshName(body_, fmt::format("{}{}", wanted, number));
        taken_.push_back(name);
        return name;
    }

    [[nodiscard]] const std::string& index() const {
        return body_.variable(loop_.inductionVariable).name;
    }

    [[nodiscard]] std::string text(ExprId expr) const {
        return std::string(source_.slice(body_.expr(expr).span));
    }

    [[nodiscard]] std::string operand(ExprId expr) const {
        return besideProduct(source_, body_.expr(expr));
    }

    const FunctionBody& body_;
    const SourceText& source_;
    SourceLayout layout_;
    const CarriedLoop& carried_;
    const Loop& loop_;
    const Stmt& stmt_;
    std::vector<std::string> taken_;
    std::vector<Names> names_; ///< As the divisions.
    std::string step_;         ///< Empty: one.
};

class AddressStrengthReductionSkill : public PlannedSkill<CarriedLoop> {
    Gated<CarriedLoop> plan(const SkillContext& context) const override {
        return findCarriedLoop(context, context.code());
    }

    Gated<Offer> offer(const SkillContext& context, const CarriedLoop& found) const override {
        const FunctionBody& body = context.kernel.body;
        const Loop& loop = context.kernel.loops[found.counted.loop];
        const std::string& index = body.variable(loop.inductionVariable).name;
        std::string divisors;
        double divided = 0;
        for (const CarriedDivision& division : found.divisions) {
            divisors += fmt::format("{}{}", divisors.empty() ? "" : ", ",
                                    context.file.source->slice(body.expr(division.divisor).span));
            divided += isWide(division) ? wideDivision : narrowDivision;
        }
        const auto others = static_cast<double>(found.otherWork);
        const double carried = carrying * static_cast<double>(found.divisions.size());
        Offer offer = newOffer(context, body.stmt(loop.statement).span);
        offer.title = fmt::format("Carry {} divided by {} from round to round", index, divisors);
        offer.why = fmt::format("each round of the loop on line {} divides {} by {}, which only "
                                "the launch decides; from one round to the next the results grow "
                                "by fixed amounts",
                                lineNumber(context, offer.anchor.begin), index, divisors);
        offer.gain = ExpectedGain{
            (others + divided) / (others + carried),
            fmt::format("a round has about {} instructions for dividing and {} for all else; "
                        "carrying takes {}",
                        divided, others, carried)};
        return offer;
    }

    GatedEdits edits(const SkillContext& context, const CarriedLoop& found) const override {
        return Writer(context, context.code(), found).edits();
    }
};

} // namespace

KERNELSKILL_SKILL(AddressStrengthReductionSkill)

} // namespace kernelskill::skills
