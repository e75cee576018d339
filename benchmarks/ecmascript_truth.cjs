// What the TypeScript compiler says every call of a tree leads to. Run by ecmascript_truth.py:
//
//   node ecmascript_truth.cjs TREE FILES MODULES
//
// TREE has the sources, FILES is a JSON list of paths in it, MODULES is a node_modules with `typescript`.
// Prints one JSON object: {sites: [[path, line, kind, name, [[path, line], …], verdict, isSignature], …]}. A site is a call, a
// `new`, a component of JSX, or a getter or setter that runs; `line` (from 1) is where the whole expression begins.
// The targets are lines of names of definitions of the tree, each as good as the other (overloads, a class and its constructor).
// isSignature: every target only declares that there is something to call (an interface's member), and what runs is elsewhere.
// verdict: "inside" (it has targets), "outside" (every declaration lies outside of the tree), "typed" (only a type is
// declared here: a parameter, a property of function type), "unknown" (the checker gives `any` or nothing).
"use strict"
const fs = require("fs")
const path = require("path")

const [tree, listing, modules] = process.argv.slice(2)
const ts = require(path.join(modules, "typescript"))
const root = fs.realpathSync(tree)
const files = JSON.parse(fs.readFileSync(listing, "utf8"))
const wanted = new Set(files.map((file) => path.join(root, file)))

function configured() {
  for (const name of ["tsconfig.json", "jsconfig.json"]) {
    const file = path.join(root, name)
    if (fs.existsSync(file)) {
      return ts.parseJsonConfigFileContent(ts.readConfigFile(file, ts.sys.readFile).config, ts.sys, root).options
    }
  }
  return { strict: true }
}

const { types, rootDir, composite, incremental, declaration, declarationMap, emitDeclarationOnly, ...kept } = configured()
const options = {
  ...kept,
  allowJs: true,
  checkJs: true,
  noEmit: true,
  skipLibCheck: true,
  maxNodeModuleJsDepth: 0,
  jsx: ts.JsxEmit.Preserve,
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  esModuleInterop: true,
  allowImportingTsExtensions: true,
  lib: undefined,
}
const program = ts.createProgram([...wanted], options)
const checker = program.getTypeChecker()
const sites = []

function lineOf(source, position) {
  return source.getLineAndCharacterOfPosition(position).line + 1
}

const isFunction = (node) => node && (ts.isArrowFunction(node) || ts.isFunctionExpression(node))
const bare = (node) => {
  while (node && (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isSatisfiesExpression(node) || ts.isNonNullExpression(node))) node = node.expression
  return node
}

// The name a person would give a declaration, and whether it is something that runs. Functions without a name are no definitions;
// what a wrapper makes of one (`memo(() => …)`) is a component, and of a plain call the checker's signature must say that it runs.
function named(declaration, isComponent) {
  if (ts.isConstructorDeclaration(declaration)) {
    const first = declaration.getFirstToken()
    return { node: declaration.getChildren().find((child) => child.kind === ts.SyntaxKind.ConstructorKeyword) || first, runs: true }
  }
  if (isFunction(declaration)) {
    let up = declaration.parent
    while (up && (ts.isParenthesizedExpression(up) || ts.isAsExpression(up) || ts.isSatisfiesExpression(up) || (ts.isCallExpression(up) && up.arguments.includes(bareParent(declaration, up))))) up = up.parent
    if (up && (ts.isVariableDeclaration(up) || ts.isPropertyAssignment(up) || ts.isPropertyDeclaration(up)) && up.name) return { node: up.name, runs: true }
    if (up && ts.isBinaryExpression(up)) {
      const left = up.left
      return { node: ts.isPropertyAccessExpression(left) ? left.name : left, runs: true }
    }
    return { node: declaration.name || declaration, runs: Boolean(declaration.name) }
  }
  if (ts.isVariableDeclaration(declaration) || ts.isPropertyDeclaration(declaration) || ts.isPropertyAssignment(declaration)) {
    let value = bare(declaration.initializer)
    while (isComponent && value && ts.isCallExpression(value)) value = bare(value.arguments[0])
    return { node: declaration.name, runs: isFunction(value) || (value && ts.isClassExpression(value)) || false }
  }
  if (ts.isBinaryExpression(declaration)) {
    const left = declaration.left
    return { node: ts.isPropertyAccessExpression(left) ? left.name : left, runs: isFunction(bare(declaration.right)) }
  }
  if (ts.isPropertyAccessExpression(declaration)) {
    const up = declaration.parent
    return { node: declaration.name, runs: up && ts.isBinaryExpression(up) && isFunction(bare(up.right)) }
  }
  const runs =
    ts.isFunctionDeclaration(declaration) || ts.isMethodDeclaration(declaration) || ts.isMethodSignature(declaration) ||
    ts.isClassDeclaration(declaration) || ts.isClassExpression(declaration) || ts.isAccessor(declaration)
  return { node: declaration.name || declaration, runs }
}

function resolvedSymbol(node) {
  let symbol = checker.getSymbolAtLocation(node)
  if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol)
  if (symbol && symbol.valueDeclaration && ts.isShorthandPropertyAssignment(symbol.valueDeclaration)) {
    symbol = checker.getShorthandAssignmentValueSymbol(symbol.valueDeclaration) || symbol
    if (symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol)
  }
  return symbol
}

// Inside `declare module "name" {…}`, which in one program with everything takes the place of the package of that name.
function isAmbient(node) {
  for (let up = node; up; up = up.parent) if (ts.isModuleDeclaration(up) && ts.isStringLiteral(up.name)) return true
  return false
}

// The child of `up` that holds a node.
function bareParent(node, up) {
  while (node.parent !== up) node = node.parent
  return node
}

// Every declaration of what a declaration belongs to: the overloads of a function, the constructors of a class and of its bases.
function related(declaration) {
  const found = [declaration]
  const symbol = declaration.symbol
  if (symbol && symbol.declarations) found.push(...symbol.declarations)
  let owner = ts.isConstructorDeclaration(declaration) ? declaration.parent : declaration
  for (let depth = 0; owner && ts.isClassLike(owner) && depth < 20; depth++) {
    found.push(owner, ...owner.members.filter(ts.isConstructorDeclaration))
    const heritage = owner.heritageClauses && owner.heritageClauses.find((clause) => clause.token === ts.SyntaxKind.ExtendsKeyword)
    const base = heritage && resolvedSymbol(heritage.types[0].expression)
    const next = base && base.declarations && base.declarations.find(ts.isClassLike)
    owner = next === owner ? undefined : next
  }
  return found
}

function record(source, node, kind, callee, signature) {
  const declarations = new Set()
  const name = ts.isPropertyAccessExpression(callee) ? callee.name : callee
  const symbol = resolvedSymbol(name)
  for (const declaration of (symbol && symbol.declarations) || []) declarations.add(declaration)
  if (signature && signature.declaration) declarations.add(signature.declaration)
  const targets = new Map()
  let outside = 0
  let typed = 0
  let isSignature = true
  for (const start of declarations) {
    for (const declaration of related(start)) {
      const where = declaration.getSourceFile()
      if (!wanted.has(path.normalize(where.fileName))) {
        outside++
        continue
      }
      if (isAmbient(declaration)) {
        typed++
        continue
      }
      const found = named(declaration, kind === "jsx")
      if (!found.runs) {
        typed++
        continue
      }
      const target = [path.relative(root, where.fileName), lineOf(where, found.node.getStart(where))]
      targets.set(target.join(":"), target)
      const isBodiless = ts.isMethodSignature(declaration) || (ts.isAccessor(declaration) && !declaration.body)
      isSignature = isSignature && (isBodiless || (ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Abstract) !== 0)
    }
  }
  const verdict = targets.size ? "inside" : typed ? "typed" : outside ? "outside" : "unknown"
  const text = ts.isIdentifier(name) || ts.isPrivateIdentifier(name) ? name.text : "()"
  sites.push([path.relative(root, source.fileName), lineOf(source, node.getStart(source)), kind, text, [...targets.values()], verdict, targets.size > 0 && isSignature])
}

function signatureOf(node) {
  try {
    return checker.getResolvedSignature(node)
  } catch {
    return undefined // the checker fails on syntax that is newer than itself
  }
}

function visit(source, node) {
  if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
    const callee = bare(node.expression)
    const isImport = callee.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(callee) && callee.text === "require")
    if (!isImport) record(source, node, callee.kind === ts.SyntaxKind.SuperKeyword ? "super" : ts.isNewExpression(node) ? "new" : "call", callee, signatureOf(node))
  } else if ((ts.isJsxOpeningElement(node) || ts.isJsxSelfClosingElement(node)) && /^[A-Z]|\./.test(node.tagName.getText(source))) {
    const symbol = resolvedSymbol(ts.isPropertyAccessExpression(node.tagName) ? node.tagName.name : node.tagName)
    if (symbol) record(source, node.tagName, "jsx", node.tagName, undefined)
    else sites.push([path.relative(root, source.fileName), lineOf(source, node.tagName.getStart(source)), "jsx", node.tagName.getText(source), [], "unknown", false])
  } else if (ts.isPropertyAccessExpression(node)) {
    const symbol = checker.getSymbolAtLocation(node.name)
    if (symbol && symbol.flags & ts.SymbolFlags.Accessor) record(source, node, "accessor", node, undefined)
  }
  ts.forEachChild(node, (child) => visit(source, child))
}

for (const source of program.getSourceFiles()) {
  if (wanted.has(path.normalize(source.fileName))) visit(source, source)
}
fs.writeSync(1, "")
process.stdout.write(JSON.stringify({ typescript: ts.version, files: program.getSourceFiles().filter((source) => wanted.has(path.normalize(source.fileName))).length, sites }))
