#include "skills/fast-math-intrinsics/replacements.h"

#include "analysis/model/known_functions.h"

#include <algorithm>
#include <array>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

struct KnownFunction {
    std::string_view name; ///< The name for float; without its 'f' it is the overload.
    std::string_view intrinsic;
    int instructions;
    int saved;
};

// Counted in cubins of sm_90 from nvcc 13.0, for a kernel with the call less one without it. Sines
// and cosines without their reduction of large arguments.
constexpr auto functions = std::to_array<KnownFunction>({
    {"expf", "__expf", 9, 4},
    {"exp10f", "__exp10f", 9, 4},
    {"logf", "__logf", 27, 23},
    {"log2f", "__log2f", 29, 25},
    {"log10f", "__log10f", 28, 24},
    {"sinf", "__sinf", 18, 16},
    {"cosf", "__cosf", 18, 16},
});
constexpr int tangentInstructions = 17;
constexpr int tangentSaved = 7;
constexpr int quotientInstructions = 9;
constexpr int quotientSaved = 5;
constexpr int rootInstructions = 17; ///< With the division.
constexpr int rootSaved = 13;
constexpr int powerInstructions = 75;
constexpr int powerSaved = 73;
constexpr int literalInstructions = 3; ///< Two conversions and an operation of double.
constexpr int literalSaved = 2;

// What the forms below add up to; see documentedError() for the intrinsics in them.
/// Near zero, `1 - 2 / (e + 1)` has the error of the quotient, 2 ulp of 1, half of that of e, which
/// is another 2, and the rounding of the difference.
constexpr StatedError tangentError{4, 0x1p-21};
constexpr StatedError reciprocalRootError{3, 0}; ///< 2 of rsqrtf and the product.
constexpr StatedError powerError{1.5, 0};        ///< Two products at most, and powf's own.
constexpr StatedError literalError{2, 0};        ///< The literal and the operation.

bool isScalar(const Type& type, ScalarKind kind) {
    return type.scalar == kind && type.lanes == 1 && type.pointerDepth == 0 &&
           type.arrayExtents.empty();
}

class Search {
public:
    explicit Search(const CodeMap& code) : code_(code), body_(code.body()) {}

    std::vector<Replacement> run() {
        for (ExprId id = 0; id < body_.exprs.size(); ++id) {
            // An expression outside of statements is no code, e.g. a default argument.
            if (code_.statement(id) == noId || body_.expr(id).fromMacro)
                continue;
            if (auto found = at(id))
                found_.push_back(*found);
        }
        std::ranges::stable_sort(found_, [&](const Replacement& a, const Replacement& b) {
            const Span x = body_.expr(a.expr).span;
            const Span y = body_.expr(b.expr).span;
            return x.begin != y.begin ? x.begin < y.begin : x.end > y.end;
        });
        return std::move(found_);
    }

private:
    std::optional<Replacement> at(ExprId id) const {
        const Expr& expr = body_.expr(id);
        if (expr.kind == ExprKind::Floating)
            return literal(id);
        if (expr.kind == ExprKind::Call && isScalar(expr.type, ScalarKind::Float) && !expr.isMethod)
            return call(id);
        if (expr.kind == ExprKind::Binary && expr.op == "/" && expr.children.size() == 2)
            return quotient(id);
        return std::nullopt;
    }

    /// The float function that this is a call of, e.g. "expf" for exp(float).
    static std::string floatName(const Expr& call) {
        std::string name{unqualified(call.name)};
        if (!name.starts_with("__") && !name.ends_with('f'))
            name += 'f';
        return name;
    }

    std::optional<Replacement> call(ExprId id) const {
        const Expr& expr = body_.expr(id);
        const std::string name = floatName(expr);
        if (expr.children.size() == 1) {
            if (name == "tanhf")
                return Replacement{ReplacementKind::Tangent, id,           "tanhf", "",
                                   tangentInstructions,      tangentSaved, false};
            const auto known = std::ranges::find(functions, name, &KnownFunction::name);
            if (known != functions.end())
                return Replacement{
                    ReplacementKind::Function, id,           known->name, known->intrinsic,
                    known->instructions,       known->saved, false};
        }
        if (expr.children.size() == 2 && name == "powf") {
            const ExprId base = code_.withoutCasts(expr.children[0]);
            const auto exponent = numberAt(expr.children[1]);
            if (body_.expr(base).kind == ExprKind::Variable && exponent &&
                (*exponent == 2 || *exponent == 3) &&
                isScalar(body_.expr(base).type, ScalarKind::Float))
                return Replacement{ReplacementKind::Power, id,         "powf", "",
                                   powerInstructions,      powerSaved, false};
        }
        return std::nullopt;
    }

    std::optional<double> numberAt(ExprId id) const {
        const Expr& expr = body_.expr(code_.withoutCasts(id));
        if (expr.kind == ExprKind::Floating)
            return expr.floating;
        if (expr.kind == ExprKind::Integer)
            return static_cast<double>(expr.integer);
        return std::nullopt;
    }

    std::optional<Replacement> quotient(ExprId id) const {
        const Expr& expr = body_.expr(id);
        const Expr& divisor = body_.expr(expr.children[1]);
        const bool isRoot = divisor.kind == ExprKind::Call && floatName(divisor) == "sqrtf" &&
                            isScalar(divisor.type, ScalarKind::Float);
        const bool isFloat = isScalar(expr.type, ScalarKind::Float);
        // `1.0 / sqrtf(x)` is of double, and a reciprocal root all the same where a float takes it.
        const bool isRounded = isScalar(expr.type, ScalarKind::Double) &&
                               body_.expr(expr.children[0]).kind == ExprKind::Floating &&
                               becomesFloat(id);
        if (isRoot && (isFloat || isRounded))
            return Replacement{ReplacementKind::ReciprocalRoot,
                               id,
                               "1 / sqrtf",
                               "",
                               rootInstructions,
                               rootSaved,
                               false};
        const bool isConstant = numberAt(expr.children[1]) || code_.constantValue(expr.children[1]);
        if (!isFloat || isConstant)
            return std::nullopt;
        return Replacement{
            ReplacementKind::Quotient, id, "/", "", quotientInstructions, quotientSaved, false};
    }

    /// The value computed in double here is rounded to float at once.
    bool becomesFloat(ExprId id) const {
        const ExprId parent = code_.parent(id);
        if (parent == noId) {
            const StmtId holder = code_.statement(id);
            return std::ranges::any_of(body_.stmt(holder).declared, [&](VariableId variable) {
                return body_.variable(variable).init == id &&
                       isScalar(body_.variable(variable).type, ScalarKind::Float);
            });
        }
        const Expr& above = body_.expr(parent);
        if (above.kind == ExprKind::Cast)
            return isScalar(above.type, ScalarKind::Float);
        return above.kind == ExprKind::Binary && isAssignment(above.op) &&
               above.children.size() == 2 && above.children[1] == id &&
               isScalar(body_.expr(above.children[0]).type, ScalarKind::Float);
    }

    /// The largest expression of double that holds `id`.
    ExprId outermostDouble(ExprId id) const {
        for (;;) {
            const ExprId parent = code_.parent(id);
            if (parent == noId)
                return id;
            const Expr& above = body_.expr(parent);
            const bool isArithmetic =
                (above.kind == ExprKind::Binary &&
                 (above.op == "+" || above.op == "-" || above.op == "*" || above.op == "/")) ||
                (above.kind == ExprKind::Unary && above.op == "-");
            if (!isArithmetic || !isScalar(above.type, ScalarKind::Double))
                return id;
            id = parent;
        }
    }

    std::optional<Replacement> literal(ExprId id) const {
        const Expr& expr = body_.expr(id);
        if (!isScalar(expr.type, ScalarKind::Double))
            return std::nullopt;
        const ExprId top = outermostDouble(id);
        const ExprId holder = code_.parent(top);
        const bool isCompound = holder != noId && body_.expr(holder).op != "=";
        if (top == id && !(isCompound && becomesFloat(id)))
            return std::nullopt; // a mere initialiser is converted when compiling
        if (!becomesFloat(top))
            return std::nullopt;
        int operations = isCompound ? 1 : 0;
        bool hasFloat = isCompound;
        for (const ExprId below : code_.expressionsBelow(top)) {
            const Expr& part = body_.expr(below);
            if (isScalar(part.type, ScalarKind::Float)) {
                hasFloat = true;
                continue;
            }
            if (code_.parent(below) != noId && below != top &&
                !isScalar(body_.expr(code_.parent(below)).type, ScalarKind::Double))
                continue; // inside of something that is of another type already
            const bool isPart = part.kind == ExprKind::Floating || part.kind == ExprKind::Integer ||
                                part.kind == ExprKind::Binary || part.kind == ExprKind::Unary;
            if (!isPart && !isIntegerOperand(part))
                return std::nullopt; // a value that is of double for its own sake
            operations += part.kind == ExprKind::Binary;
        }
        if (!hasFloat)
            return std::nullopt;
        // One operation on floats, rounded twice, is that rounded once (Figueroa, 1995).
        const bool isRepresentable =
            static_cast<double>(static_cast<float>(expr.floating)) == expr.floating;
        return Replacement{ReplacementKind::Literal,
                           id,
                           "double literals",
                           "",
                           literalInstructions,
                           literalSaved,
                           isRepresentable && operations == 1};
    }

    static bool isIntegerOperand(const Expr& part) {
        return part.type.pointerDepth == 0 && part.type.lanes == 1 &&
               part.type.scalar >= ScalarKind::Bool && part.type.scalar <= ScalarKind::UInt64;
    }

    const CodeMap& code_;
    const FunctionBody& body_;
    std::vector<Replacement> found_;
};

} // namespace

std::vector<Replacement> findReplacements(const CodeMap& code) {
    return Search(code).run();
}

StatedError errorOf(const Replacement& replacement) {
    if (replacement.isExact)
        return {};
    switch (replacement.kind) {
    case ReplacementKind::Function:
        return documentedError(replacement.becomes).value_or(StatedError{});
    case ReplacementKind::Tangent:
        return tangentError;
    case ReplacementKind::ReciprocalRoot:
        return reciprocalRootError;
    case ReplacementKind::Quotient:
        return documentedError("__fdividef").value_or(StatedError{});
    case ReplacementKind::Power:
        return powerError;
    case ReplacementKind::Literal:
        return literalError;
    }
    return {};
}

} // namespace kernelskill::skills
