// The page of the local room. The comment of package web says how it talks to the room; each
// module in room/ does one part of it.

import { $, refocus } from './room/dom.js';
import { speakAgain } from './room/words.js';
import { table } from './room/table.js';
import { sit, sitAgain } from './room/seats.js';
import { toEnd } from './room/scroll.js';
import './room/box.js';
import './room/guide.js';
import './room/stream.js';

$('move-over').onclick = () => { sit(table.due[0]); refocus(); };
$('newest').onclick = () => { toEnd(); refocus(); };

speakAgain();
sitAgain();
