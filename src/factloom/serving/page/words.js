"use strict";

// What the page says, in English and Chinese. `say(key, values)` fills {names} in; elements with
// `data-say` (their text), `data-label` (for screen readers) and `data-hint` (in an empty field)
// follow when the language changes. Names, relations and texts stay as the documents have them.
const WORDS = {
  // the frame
  read: { en: "Read", zh: "阅读" },
  ask: { en: "Ask", zh: "提问" },
  store: { en: "Store", zh: "图谱" },
  views: { en: "Views", zh: "视图" },
  language: { en: "中文", zh: "English" },
  "language-label": { en: "切换为中文", zh: "Switch to English" },
  close: { en: "Close", zh: "关闭" },
  "no-store": {
    en: "This service has no store: texts are read, nothing is kept, and there are no questions.",
    zh: "此服务没有图谱存储：只阅读文本，不保存任何内容，也无法提问。",
  },
  unreachable: {
    en: "The service does not answer.",
    zh: "服务没有响应。",
  },
  "unreachable-mend": {
    en: "Look whether it runs, and try again.",
    zh: "请检查服务是否在运行，然后重试。",
  },
  token: { en: "Token", zh: "令牌" },
  "token-needed": {
    en: "This service needs a token. It is kept until this page is closed, and nowhere else.",
    zh: "此服务需要令牌。令牌只保留到本页面关闭为止，不存放在别处。",
  },
  continue: { en: "Continue", zh: "继续" },
  cancel: { en: "Cancel", zh: "取消" },

  // reading
  "text-to-read": { en: "Text", zh: "文本" },
  "text-hint": {
    en: "Paste a text in English or Chinese, or drop files here.",
    zh: "在此粘贴中文或英文文本，或拖入文件。",
  },
  "read-it": { en: "Read the text", zh: "阅读文本" },
  "choose-files": { en: "Choose files", zh: "选择文件" },
  "its-name": { en: "Name (if you like)", zh: "名称（可选）" },
  keep: { en: "Keep in the store", zh: "存入图谱" },
  reading: { en: "Reading…", zh: "正在阅读……" },
  "read-done": {
    en: "{name}: {entities} entities, {relations} relations.",
    zh: "{name}：{entities} 个实体，{relations} 个关系。",
  },
  "not-read": { en: "Not read: {names}.", zh: "未能阅读：{names}。" },
  "file-needs-store": {
    en: "“{name}” is not plain text.",
    zh: "“{name}”不是纯文本。",
  },
  "file-needs-store-mend": {
    en: "A service with a store reads PDF, HTML and JSONL too: factloom serve --store DIR.",
    zh: "带图谱存储的服务还能阅读 PDF、HTML 和 JSONL：factloom serve --store DIR。",
  },
  documents: { en: "Documents", zh: "文档" },
  "document-text": { en: "Text of the document", zh: "文档正文" },
  "types-of-entities": { en: "Types of entities", zh: "实体类型" },

  // what was found
  "graph-and-relations": { en: "Graph and relations", zh: "图与关系" },
  graph: {
    en: "The graph. All that it shows stands in the list of relations too.",
    zh: "关系图。图中的内容也都列在关系列表里。",
  },
  "graph-note": {
    en: "Click an edge for its evidence, a node for what is about it. Drag to move, scroll to zoom, double click to fit.",
    zh: "点击边查看证据，点击节点查看与其有关的内容。拖动可移动，滚轮可缩放，双击可还原。",
  },
  "graph-empty": { en: "No relation to draw.", zh: "没有可画的关系。" },
  "graph-bounded": {
    en: "Drawn are {drawn} of {all} entities, those with most relations to each other; the list has all.",
    zh: "图中画出 {all} 个实体中彼此关系最多的 {drawn} 个；列表中有全部。",
  },
  relations: { en: "Relations", zh: "关系" },
  relation: { en: "Relation", zh: "关系" },
  all: { en: "all", zh: "全部" },
  "least-score": { en: "Least score", zh: "最低分数" },
  "relations-listed": { en: "{shown} of {all} relations", zh: "{all} 个关系中的 {shown} 个" },
  "show-more": { en: "Show more", zh: "显示更多" },
  about: { en: "About {name}", zh: "关于 {name}" },
  "about-all": { en: "Show all again", zh: "重新显示全部" },
  score: { en: "score {score}", zh: "分数 {score}" },
  "said-in": { en: "in", zh: "见" },
  "no-evidence": {
    en: "No evidence sentence is given for this relation.",
    zh: "此关系没有给出证据句。",
  },
  bridge: { en: "It follows from", zh: "由此推出" },
  and: { en: "and", zh: "和" },
  accepted: { en: "accepted", zh: "已确认" },
  rejected: { en: "rejected", zh: "已否定" },
  corrected: { en: "corrected", zh: "已更正" },

  // corrections
  accept: { en: "Accept", zh: "确认" },
  reject: { en: "Reject", zh: "否定" },
  correct: { en: "Correct…", zh: "更正……" },
  "save-correction": { en: "Save the correction", zh: "保存更正" },
  merge: { en: "Merge with…", zh: "合并到……" },
  "merge-hint": { en: "The same thing by another name", zh: "同一事物的另一名称" },
  "merge-with": { en: "{name} is the same as {other}", zh: "{name} 与 {other} 是同一事物" },
  head: { en: "Head", zh: "头实体" },
  tail: { en: "Tail", zh: "尾实体" },
  undo: { en: "Undo", zh: "撤销" },
  undone: { en: "Taken back: {about}", zh: "已撤销：{about}" },
  "said-accept": { en: "Accepted: {about}", zh: "已确认：{about}" },
  "said-reject": { en: "Rejected: {about}", zh: "已否定：{about}" },
  "said-correct": { en: "Corrected: {about}", zh: "已更正：{about}" },
  "said-merge": { en: "Merged: {about}", zh: "已合并：{about}" },
  "said-rename": { en: "Renamed: {about}", zh: "已改名：{about}" },
  "said-retype": { en: "Other type: {about}", zh: "已改类型：{about}" },
  "said-split": { en: "Taken apart: {about}", zh: "已拆分：{about}" },
  "said-skip": { en: "Left open: {about}", zh: "未定：{about}" },
  corrections: { en: "Corrections", zh: "更正记录" },
  "no-corrections": { en: "Nobody has corrected anything yet.", zh: "还没有任何更正。" },
  "your-name": { en: "Your name, beside your corrections", zh: "您的名字，写在更正旁" },

  // questions
  question: { en: "Question", zh: "问题" },
  "question-hint": { en: "Where was Ada Lovelace born?", zh: "Where was Ada Lovelace born?" },
  "ask-it": { en: "Ask", zh: "提问" },
  asking: { en: "Looking for an answer…", zh: "正在寻找答案……" },
  "not-said": { en: "The documents do not say.", zh: "文档中没有说明。" },
  "answer-unsupported": {
    en: "A generator wrote this, and no passage that it read says it.",
    zh: "这是生成器写出的，它读过的段落都没有这样说。",
  },
  "answer-path": { en: "The way to the answer", zh: "通向答案的路径" },
  proof: { en: "What proves it", zh: "依据" },
  answers: { en: "Answers", zh: "答案" },

  // the store
  "find-thing": { en: "Find a thing", zh: "查找事物" },
  "find-hint": { en: "A name, or a part of one", zh: "名称或其一部分" },
  "path-to": { en: "Path to…", zh: "到……的路径" },
  "draw-all": { en: "Draw all", zh: "全部画出" },
  "no-thing": { en: "Nothing is called so.", zh: "没有这样的名称。" },
  "more-things": { en: "{count} more: type more of the name.", zh: "还有 {count} 个：请输入更多字。" },
  "no-path": { en: "There is no path so short.", zh: "没有这么短的路径。" },
  loading: { en: "Loading… {count} facts", zh: "正在载入…… {count} 个事实" },
  loaded: { en: "{facts} facts about {things} things.", zh: "关于 {things} 个事物的 {facts} 个事实。" },
  "loaded-part": {
    en: "The store has more: search for the rest.",
    zh: "图谱中还有更多，请搜索。",
  },
};

let language = "en";

function say(key, values = {}) {
  const words = WORDS[key][language];
  return words.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

// Chinese where the browser wants it before English; English for all others.
function wantedLanguage(languages) {
  const known = languages.map((each) => each.slice(0, 2).toLowerCase());
  return known.find((each) => each === "zh" || each === "en") ?? "en";
}

function speak(chosen) {
  language = chosen;
  document.documentElement.lang = chosen === "zh" ? "zh-Hans" : "en";
  sayAll(document);
}

function sayAll(root) {
  for (const element of root.querySelectorAll("[data-say]"))
    element.textContent = say(element.dataset.say);
  for (const element of root.querySelectorAll("[data-label]"))
    element.setAttribute("aria-label", say(element.dataset.label));
  for (const element of root.querySelectorAll("[data-hint]"))
    element.placeholder = say(element.dataset.hint);
}

// An element whose text follows the language.
function worded(tag, key, properties = {}) {
  const element = make(tag, { textContent: say(key), ...properties });
  element.dataset.say = key;
  return element;
}

function counted(count) {
  return count.toLocaleString(language);
}
