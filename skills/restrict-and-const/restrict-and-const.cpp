/// Tells the compiler which pointers do not alias and which are only read.
#include "analysis/queries/pointer_origins.h"
#include "analysis/source/files.h"
#include "analysis/syntax/lexer.h"
#include "skills/base/planned_skill.h"
#include "skills/gates/launch_sites.h"
#include "skills/restrict-and-const/repeated_load.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The qualifiers that one parameter is to gain.
struct Qualification {
    std::size_t parameter = 0; ///< Index into KernelModel::parameters.
    bool addConst = false;
    bool addRestrict = false;
};

/// Tokens of one parameter, a default argument left out.
std::vector<Token> declaratorTokens(std::string_view text, Span span) {
    std::vector<Token> tokens = lex(text, span);
    const auto equals = std::ranges::find(tokens, "=", &Token::text);
    tokens.erase(equals, tokens.end());
    return tokens;
}

/// `T* x`: one star that is written out, no array brackets, no function.
bool isPlainPointer(const std::vector<Token>& tokens) {
    return std::ranges::count(tokens, "*", &Token::text) == 1 &&
           std::ranges::none_of(tokens, [](const Token& token) {
               return token.text == "(" || token.text == "[" || token.text == "&" ||
                      token.kind == TokenKind::Directive;
           });
}

/// The type of a parameter as one normalised text: qualifiers and spacing as written, name left
/// out.
std::string typeText(std::vector<Token> tokens, std::string_view name) {
    if (!tokens.empty() && tokens.back().text == name)
        tokens.pop_back();
    std::string text;
    for (const Token& token : tokens)
        text += fmt::format("{} ", token.text);
    return text;
}

/// Splits a parameter list at its top-level commas.
std::vector<Span> splitParameters(std::string_view text, Span list) {
    std::vector<Span> parameters;
    const std::vector<Token> tokens = lex(text, list);
    int depth = 0;
    std::uint32_t begin = list.begin;
    for (const Token& token : tokens) {
        if (token.text == "(" || token.text == "[" || token.text == "{" || token.text == "<")
            ++depth;
        else if (token.text == ")" || token.text == "]" || token.text == "}" || token.text == ">")
            --depth;
        else if (token.text == "," && depth == 0) {
            parameters.push_back({begin, token.span.begin});
            begin = token.span.end;
        }
    }
    if (!tokens.empty())
        parameters.push_back({begin, list.end});
    for (Span& parameter : parameters)
        parameter.begin = std::min(skipTrivia(text, parameter.begin), parameter.end);
    return parameters;
}

class Planner {
public:
    Planner(const SkillContext& context, const CodeMap& code) : context_(context), code_(code) {}

    Gated<std::vector<Qualification>> plan() {
        KERNELSKILL_CHECK(requireEditable(context_));
        std::vector<Qualification> found = candidates();
        if (found.empty())
            return refuse(
                "already-qualified",
                fmt::format("no pointer of {} can gain const or __restrict__", kernel().name));
        KERNELSKILL_CHECK(requireVisiblePointers());
        KERNELSKILL_CHECK(requireKnownLaunches(context_));
        if (kernel().launches.empty())
            return refuse("no-launch",
                          fmt::format("no launch of {} in this file shows that its pointers do not "
                                      "alias",
                                      kernel().name));
        for (const LaunchSite& launch : kernel().launches)
            KERNELSKILL_CHECK(requireDistinctArguments(launch));
        KERNELSKILL_CHECK(requireMatchingDeclarations());
        return found;
    }

private:
    [[nodiscard]] const KernelModel& kernel() const { return context_.kernel; }

    [[nodiscard]] std::vector<Qualification> candidates() const {
        const std::string& text = context_.file.source->text();
        std::vector<Qualification> found;
        const auto pointers = std::ranges::count_if(
            kernel().parameters, [](const Parameter& p) { return p.type.pointerDepth >= 1; });
        for (std::size_t i = 0; i < kernel().parameters.size(); ++i) {
            const Parameter& parameter = kernel().parameters[i];
            const Type& type = parameter.type;
            if (type.pointerDepth != 1 || type.isReference || type.isVolatile ||
                parameter.escapes || code_.isEverWritten(parameter.variable) ||
                code_.body().variable(parameter.variable).fromMacro ||
                !isPlainPointer(declaratorTokens(text, parameter.span)))
                continue;
            Qualification wanted;
            wanted.parameter = i;
            wanted.addRestrict = !type.isRestrict && pointers > 1;
            wanted.addConst = !type.pointeeConst && !parameter.isWritten && parameter.isRead &&
                              isOnlyRead(parameter.variable);
            if (wanted.addRestrict || wanted.addConst)
                found.push_back(wanted);
        }
        return found;
    }

    /// Every use reads in place, so that nothing is left that needs a pointer to non-const.
    [[nodiscard]] bool isOnlyRead(VariableId pointer) const {
        return std::ranges::all_of(code_.uses(pointer), [&](ExprId use) {
            const FunctionBody& body = code_.body();
            ExprId at = use;
            for (ExprId parent = code_.parent(at); parent != noId; parent = code_.parent(at)) {
                const Expr& above = body.expr(parent);
                const bool isFirst = above.children.front() == at;
                if (above.kind == ExprKind::Subscript && isFirst)
                    return !isAddressTaken(parent);
                if (above.kind == ExprKind::Unary && above.op == "*")
                    return !isAddressTaken(parent);
                if (above.kind == ExprKind::Call)
                    return takesConst(above, at);
                const bool isOffset =
                    above.kind == ExprKind::Binary && (above.op == "+" || above.op == "-");
                const bool isCompared =
                    above.kind == ExprKind::Binary && (above.op == "==" || above.op == "!=");
                if (isCompared)
                    return true;
                if (!isOffset)
                    return false;
                at = parent;
            }
            return false;
        });
    }

    /// `&x[i]`, unless it goes straight into a read-only load.
    [[nodiscard]] bool isAddressTaken(ExprId element) const {
        const ExprId parent = code_.parent(element);
        if (parent == noId || code_.body().expr(parent).kind != ExprKind::Unary ||
            code_.body().expr(parent).op != "&")
            return false;
        const ExprId call = code_.parent(parent);
        return call == noId || code_.body().expr(call).kind != ExprKind::Call ||
               !takesConst(code_.body().expr(call), parent);
    }

    [[nodiscard]] bool takesConst(const Expr& call, ExprId argument) const {
        constexpr std::array<std::string_view, 5> loads = {"__ldg", "__ldcs", "__ldca", "__ldcg",
                                                           "__ldlu"};
        if (std::ranges::find(loads, call.name) != loads.end())
            return true;
        const auto position = std::ranges::find(call.children, argument) - call.children.begin();
        const auto callee =
            std::ranges::find_if(context_.file.deviceFunctions, [&](const KernelModel& function) {
                return (function.name == call.name || function.qualifiedName == call.name) &&
                       !call.isMethod;
            });
        if (callee == context_.file.deviceFunctions.end())
            return false;
        // Several overloads, or a template, could resolve differently once the argument is const.
        const auto overloads =
            std::ranges::count(context_.file.deviceFunctions, callee->name, &KernelModel::name);
        return overloads == 1 && callee->templateParameters.empty() &&
               static_cast<std::size_t>(position) < callee->parameters.size() &&
               callee->parameters[static_cast<std::size_t>(position)].type.pointeeConst;
    }

    /// Pointers that the launch does not show could alias anything.
    [[nodiscard]] Gated<void> requireVisiblePointers() const {
        for (const Parameter& parameter : kernel().parameters) {
            const Type& type = parameter.type;
            if (type.pointerDepth > 1)
                return refuse(
                    "pointer-to-pointer",
                    fmt::format("{} leads to pointers that may alias the others", parameter.name));
            if (type.pointerDepth == 0 && type.scalar == ScalarKind::Unknown && !type.isDependent &&
                !type.isPlainClass)
                return refuse(
                    "class-parameter",
                    fmt::format("{} is a {}, which may hold pointers that alias the others",
                                parameter.name, type.spelling));
            if (type.pointerDepth == 1 && parameter.escapes)
                return refuse(
                    "pointer-escapes",
                    fmt::format("{} is stored or passed on to a function that is not known",
                                parameter.name));
        }
        for (const Variable& variable : kernel().body.variables) {
            const bool isGlobal = variable.storage == Storage::DeviceGlobal;
            if (isGlobal ||
                (variable.storage == Storage::Constant && variable.type.pointerDepth > 0))
                return refuse(
                    "device-global",
                    fmt::format("the device variable {} may alias a parameter", variable.name));
        }
        return {};
    }

    [[nodiscard]] Gated<void> requireDistinctArguments(const LaunchSite& launch) const {
        const PointerOrigins origins(context_.file, context_.shared(), launch.host);
        const std::string place = placeOf(context_, launch);
        const SourceText* source = sourceOf(context_.file, launch);
        const auto text = [&](Span span) {
            return std::string(source == nullptr ? std::string_view() : source->slice(span));
        };
        for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
            for (std::size_t j = i + 1; j < launch.arguments.size(); ++j) {
                if (!isPointer(i) || !isPointer(j))
                    continue;
                if (const auto shared =
                        origins.commonOrigin(launch.arguments[i], launch.arguments[j]))
                    return refuse("aliasing-launch",
                                  fmt::format("the launch on {} passes {} and {}, which both come "
                                              "from {}",
                                              place, text(launch.argumentSpans[i]),
                                              text(launch.argumentSpans[j]), *shared));
            }
        }
        if (launch.arguments.size() != kernel().parameters.size())
            return refuse("defaulted-argument",
                          fmt::format("the launch on {} leaves an argument to its default", place));
        return {};
    }

    [[nodiscard]] bool isPointer(std::size_t parameter) const {
        return parameter < kernel().parameters.size() &&
               kernel().parameters[parameter].type.pointerDepth == 1;
    }

    [[nodiscard]] Gated<void> requireMatchingDeclarations() const {
        const std::string& text = context_.file.source->text();
        for (const Span declaration : forwardDeclarations(context_)) {
            const std::vector<Span> parameters = splitParameters(text, declaration);
            if (parameters.size() != kernel().parameters.size())
                continue; // another overload
            for (std::size_t i = 0; i < parameters.size(); ++i) {
                const std::string& name = kernel().parameters[i].name;
                const std::string wanted =
                    typeText(declaratorTokens(text, kernel().parameters[i].span), name);
                std::vector<Token> tokens = declaratorTokens(text, parameters[i]);
                const std::string whole = typeText(tokens, "");
                const std::string nameless =
                    tokens.empty() ? whole : typeText(tokens, tokens.back().text);
                if (whole != wanted && nameless != wanted)
                    return refuse("unmatched-declaration",
                                  fmt::format("the declaration on line {} spells parameter {} "
                                              "differently from the definition",
                                              lineNumber(context_, declaration.begin), name));
            }
        }
        return {};
    }

    const SkillContext& context_;
    const CodeMap& code_;
};

/// A header that declares the kernel would disagree with the edited definition.
std::optional<std::string> headerThatDeclares(const FileModel& file, const KernelModel& kernel) {
    for (const std::string& path : file.userFiles) {
        if (path == file.file || file.otherSources.contains(path))
            continue;
        const std::string text = readFile(path).value_or("");
        for (const Token& token : lex(text))
            if (token.kind == TokenKind::Identifier && token.text == kernel.name)
                return path;
    }
    return std::nullopt;
}

class RestrictAndConstSkill : public PlannedSkill<std::vector<Qualification>> {
    Gated<std::vector<Qualification>> plan(const SkillContext& context) const override {
        return Planner(context, context.code()).plan();
    }

    Gated<Offer> offer(const SkillContext& context,
                       const std::vector<Qualification>& plan) const override {
        std::string constNames;
        std::string restrictNames;
        for (const Qualification& wanted : plan) {
            const std::string& name = context.kernel.parameters[wanted.parameter].name;
            if (wanted.addConst)
                constNames += (constNames.empty() ? "" : ", ") + name;
            if (wanted.addRestrict)
                restrictNames += (restrictNames.empty() ? "" : ", ") + name;
        }
        Offer offer = newOffer(context, {context.kernel.parameters.front().span.begin,
                                         context.kernel.parameters.back().span.end});
        offer.title = fmt::format("Qualify the pointers of {}: {}{}{}", context.kernel.name,
                                  constNames.empty() ? "" : "const " + constNames,
                                  constNames.empty() || restrictNames.empty() ? "" : "; ",
                                  restrictNames.empty() ? "" : "__restrict__ " + restrictNames);
        offer.why = fmt::format("no launch in this file passes pointers of one origin{}{}",
                                constNames.empty() ? "" : ", and the kernel never writes through ",
                                constNames);
        if (const auto repeated = repeatedLoad(context)) {
            const Nest& nest = context.shared().nest();
            const NestAccess& load = nest.accesses[repeated->load];
            const NestAccess& store = nest.accesses[repeated->store];
            const Span loaded = context.kernel.body.expr(load.expression).span;
            const Span stored = context.kernel.body.expr(store.expression).span;
            offer.role = SkillRole::Answer;
            offer.why += fmt::format(
                "; without that promise {} on line {} is loaded again{}, since the store to {} on "
                "line {} may have changed it",
                text(context, loaded), lineNumber(context, loaded.begin),
                repeated->isInLoop ? " in every round" : "", nest.arrays[store.array].name,
                lineNumber(context, stored.begin));
        }
        return offer;
    }

    GatedEdits edits(const SkillContext& context,
                     const std::vector<Qualification>& plan) const override {
        auto header = fileThatDeclares(context);
        if (!header)
            header = headerThatDeclares(context.file, context.kernel);
        if (header)
            return refuse("declared-in-header",
                          fmt::format("{} names {}; its declaration there would no longer match",
                                      *header, context.kernel.name));
        const std::string& text = context.file.source->text();
        std::vector<TextEdit> edits;
        for (const Qualification& wanted : plan)
            qualify(context, wanted, context.kernel.parameters[wanted.parameter].span, edits);
        for (const Span declaration : forwardDeclarations(context)) {
            const std::vector<Span> parameters = splitParameters(text, declaration);
            if (parameters.size() != context.kernel.parameters.size())
                continue;
            for (const Qualification& wanted : plan)
                qualify(context, wanted, parameters[wanted.parameter], edits);
        }
        return edits;
    }

    static std::string text(const SkillContext& context, Span span) {
        return std::string(context.file.source->slice(span));
    }

    static void qualify(const SkillContext& context, const Qualification& wanted, Span parameter,
                        std::vector<TextEdit>& edits) {
        const std::string& text = context.file.source->text();
        const std::vector<Token> tokens = declaratorTokens(text, parameter);
        if (wanted.addConst) {
            const std::uint32_t begin = tokens.front().span.begin;
            edits.push_back({{begin, begin}, "const "});
        }
        if (!wanted.addRestrict)
            return;
        const std::uint32_t after = std::ranges::find(tokens, "*", &Token::text)->span.end;
        const bool isFollowedByName =
            after < parameter.end && text[after] != ' ' && text[after] != '\t';
        const std::string word{spelling(context)};
        edits.push_back({{after, after}, isFollowedByName ? word + " " : " " + word});
    }

    /// The spelling that this kernel already uses for another parameter.
    static std::string_view spelling(const SkillContext& context) {
        for (const Token& token : lex(context.file.source->text(),
                                      {context.kernel.nameSpan.end, context.kernel.bodySpan.begin}))
            if (token.text == "__restrict")
                return "__restrict";
        return "__restrict__";
    }
};

} // namespace

KERNELSKILL_SKILL(RestrictAndConstSkill)

} // namespace kernelskill::skills
